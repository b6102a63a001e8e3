package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"unicode"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// maxProblems limits the problems of one error.
const maxProblems = 100

// Problem is one fault in a request.
type Problem struct {
	Loc       []string // begins with path, query, header or body; may be empty
	Msg, Type string
}

// String returns the message after the name of its field. It omits other locations, which mean nothing to users.
func (p Problem) String() string {
	if len(p.Loc) < 2 || p.Loc[0] != "body" && p.Loc[0] != "query" {
		return p.Msg
	}
	return strings.Join(p.Loc[1:], ".") + ": " + p.Msg
}

// problemParser parses the body of an error response: of the API, {"detail": [{loc, msg, type}]}, or of
// another server or gateway.
type problemParser struct{ secrets }

func (p problemParser) parse(body []byte) []Problem {
	var parsed any
	_ = json.Unmarshal(body, &parsed) // a body that is not JSON yields no problems
	return p.any(parsed)
}

func (p problemParser) any(v any) []Problem {
	switch v := v.(type) {
	case string:
		if msg := p.text(v); msg != "" {
			return []Problem{{Msg: api.PlainMessage(msg)}}
		}
	case []any:
		var all []Problem
		for _, element := range v[:min(len(v), maxProblems)] {
			all = append(all, p.any(element)...)
		}
		return all
	case map[string]any:
		for _, key := range []string{"detail", "details", "errors", "msg", "message", "error", "reason", "title"} {
			found := p.any(v[key])
			if _, isText := v[key].(string); isText && len(found) > 0 {
				typ, _ := v["type"].(string)
				found[0].Loc, found[0].Type = p.loc(v["loc"]), p.text(typ)
			}
			if len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// loc parses a location. Its elements may be numbers.
func (p problemParser) loc(v any) []string {
	elements, ok := v.([]any)
	if !ok {
		return nil
	}
	loc := make([]string, len(elements))
	for i, element := range elements {
		loc[i] = p.text(fmt.Sprint(element))
	}
	return loc
}

func (p problemParser) text(s string) string { return Clean(p.redact(s)) }

// Limits of the texts in an error, in characters.
const (
	maxMessage = 1000
	maxExcerpt = 300
)

const redacted = "[redacted]"

// secrets are values that must not appear in a message of a call: the token, the Idempotency-Key and
// secret values of the body.
type secrets []string

func (s *secrets) add(values ...string) {
	for _, v := range values {
		if v != "" {
			*s = append(*s, v)
		}
	}
}

// redact removes the secrets from a text, in every encoding in which a message may quote them.
func (s secrets) redact(text string) string {
	for _, secret := range s {
		inJSON, _ := json.Marshal(secret)
		for _, form := range []string{
			secret, string(inJSON[1 : len(inJSON)-1]), html.EscapeString(secret),
			url.QueryEscape(secret), url.PathEscape(secret),
		} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

// redactError returns err, or an error with its redacted text if the text contains a secret.
func (s secrets) redactError(err error) error {
	if text := err.Error(); s.redact(text) != text {
		return errors.New(s.redact(text))
	}
	return err
}

// Clean prepares a text of a response for an error: it removes control characters and shortens the text.
func Clean(s string) string { return clean(s, maxMessage) }

func clean(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
	}), " ")
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
