package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// maxProblems bounds what one error says.
const maxProblems = 100

// refused is the error of a response that is not a success.
func (x *exchange) refused(resp *http.Response) *Error {
	e := x.answered(resp)
	body, _ := readAll(resp)
	e.Problems = x.problems(body)
	if len(e.Problems) == 0 && !isEmptyJSON(body) {
		e.Raw = clean(x.redact(string(body)), maxExcerpt)
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		e.incident = &x.c.incidents.credential
	case e.Status == http.StatusNotFound && x.listsAll():
		e.incident = &x.c.incidents.noAPI
	case len(e.Problems) == 0 && saysTLSOnly(e.Status, e.Raw):
		e.Err, e.incident = ErrTLSOnly, &x.c.incidents.unreachable
	}
	return e
}

// listsAll reports whether the request is for a list that every API has, without a
// filter: only an API or account that is not there has no such list.
func (x *exchange) listsAll() bool {
	u, err := url.Parse(x.request.url)
	if err != nil || x.spec.Method != http.MethodGet || x.spec.Lifecycle() || namesObject(x.spec) {
		return false
	}
	query := u.Query()
	query.Del("page")
	query.Del("page_size")
	return len(query) == 0
}

// answered is an error about an answer, without its reason.
func (x *exchange) answered(resp *http.Response) *Error {
	id := resp.Header.Get("X-Request-Id")
	if id == "" {
		id = x.requestID
	}
	return &Error{
		Status:     resp.StatusCode,
		RequestID:  clean(x.redact(id), 128),
		Operation:  x.spec.ID,
		Object:     x.object,
		collection: !namesObject(x.spec),
	}
}

// namesObject reports whether the operation's path names an object besides the
// account.
func namesObject(s api.Spec) bool { return strings.Count(s.Path, "{") > 1 }

// problems reads an error body. Ours is {"detail": [{loc, msg, type}]}; other
// servers of the family, and gateways before them, also answer with a detail
// that is a string or an object, and with a message under another name.
func (x *exchange) problems(body []byte) []Problem {
	var parsed any
	if json.Unmarshal(body, &parsed) != nil {
		return nil
	}
	if object, ok := parsed.(map[string]any); ok {
		for _, key := range []string{"detail", "details", "errors", "error", "message", "msg", "title"} {
			if found := x.reasons(object[key]); len(found) > 0 {
				return found
			}
		}
		return nil
	}
	return x.reasons(parsed)
}

// reasons reads a detail of any shape.
func (x *exchange) reasons(v any) []Problem {
	switch v := v.(type) {
	case string:
		if msg := x.message(v); msg != "" {
			return []Problem{{Msg: msg}}
		}
	case []any:
		var all []Problem
		for _, element := range v[:min(len(v), maxProblems)] {
			all = append(all, x.reasons(element)...)
		}
		return all
	case map[string]any:
		return x.reason(v)
	}
	return nil
}

// reason reads one object: a problem, or something that holds problems.
func (x *exchange) reason(v map[string]any) []Problem {
	for _, key := range []string{"msg", "message", "detail", "error", "reason", "title"} {
		inner, isText := v[key].(string)
		if !isText {
			if found := x.reasons(v[key]); len(found) > 0 {
				return found
			}
			continue
		}
		if msg := x.message(inner); msg != "" {
			typ, _ := v["type"].(string)
			return []Problem{{Loc: x.place(v["loc"]), Msg: msg, Type: x.message(typ)}}
		}
	}
	return nil
}

// place reads a loc, whose elements other servers write as numbers too.
func (x *exchange) place(v any) []string {
	elements, ok := v.([]any)
	if !ok {
		return nil
	}
	loc := make([]string, len(elements))
	for i, element := range elements {
		loc[i] = x.message(fmt.Sprint(element))
	}
	return loc
}

// isEmptyJSON reports whether an answer says nothing.
func isEmptyJSON(body []byte) bool {
	switch string(bytes.TrimSpace(body)) {
	case "", "null", "{}", "[]":
		return true
	}
	return false
}
