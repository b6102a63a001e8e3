package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Do sends one request and decodes its response. If the outcome of a keyed
// request is unknown, Do fails.
func Do[Req, Resp any](ctx context.Context, t *Transport, op api.Operation[Req, Resp], req *Req) (*Resp, error) {
	c, err := t.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	return Send[Resp](ctx, c)
}

// Send sends the request of a call and decodes its response. A response without
// content, null or {} is the zero value.
func Send[Resp any](ctx context.Context, c *Call) (*Resp, error) {
	v, isEmpty, failure := new(Resp), false, error(nil)
	isList := reflect.TypeFor[Resp]().Kind() == reflect.Slice
	hasContent := reflect.TypeFor[Resp]() != reflect.TypeFor[api.NoContent]()
	c.decode = func(resp *http.Response) (isReadable bool) {
		body, err := readAll(resp)
		v, failure = new(Resp), err
		// [] is an empty response too, unless the response is a list.
		isEmpty = err == nil && isEmptyJSON(body) && !isList
		switch {
		case err != nil:
			return false
		case len(body) == 0:
			return c.spec.Method != http.MethodGet // others may respond without content
		case isEmpty:
			return true
		case hasContent:
			failure = json.Unmarshal(body, v)
			_, isMalformed := errors.AsType[*json.SyntaxError](failure)
			return !isMalformed
		case isHTML(resp):
			failure = errors.New("no content was expected")
			return false
		}
		return true
	}
	resp, err := c.send(ctx)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		e := c.errorFrom(resp)
		e.Err = errors.New(mismatch(resp, failure))
		return nil, e
	}
	if hasContent && !isEmpty {
		c.t.Confirmed.Store(true)
	}
	return v, nil
}

// Stream sends a request whose response is CSV. The caller closes it, and keeps
// ctx alive while reading.
func Stream[Req any](ctx context.Context, t *Transport, op api.Operation[Req, api.CSV], req *Req) (io.ReadCloser, error) {
	c, err := t.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	resp, err := c.send(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// send sends the request, as often as is safe, and returns a successful response.
// Its error is an *Error.
func (c *Call) send(ctx context.Context) (*http.Response, error) {
	if c.spec.Method != http.MethodGet {
		c.t.changes.begin()
		defer func() { c.t.changes.end(c.anyUnknown) }()
	}
	if _, c.isLookup = lookupKey(ctx); !c.isLookup {
		if err := c.t.outage.allow(c.t.Hooks.Now()); err != nil {
			c.Last = Attempt{Outcome: NotSent, notSent: true}
			return nil, c.failed(err)
		}
	}
	switch resp, err := c.sendUntilDone(ctx); {
	case err != nil:
		return nil, c.failed(err)
	case !isSuccess(resp):
		return nil, c.refused(resp)
	default:
		return resp, nil
	}
}

// failed returns the error of a call without a response.
func (c *Call) failed(cause error) *Error {
	return &Error{
		Operation: c.spec.ID, Object: c.Object, RequestID: c.RequestID,
		Err:     asInterrupted(c.secrets.redactError(cause), c.Last.Status),
		notSent: c.Last.notSent, incident: c.t.incidents.of(cause),
	}
}

// refused returns the error of a response that is not a success.
func (c *Call) refused(resp *http.Response) *Error {
	e := c.errorFrom(resp)
	body, _ := readAll(resp)
	e.Problems = problemParser{c.secrets}.parse(body)
	if len(e.Problems) == 0 && !isEmptyJSON(body) {
		e.Raw = clean(c.secrets.redact(string(body)), maxExcerpt)
	}
	switch {
	case c.embeddedFailed():
		e.Err, e.incident = ErrEmbedded, &c.t.incidents.unreachable
	case e.Status == http.StatusUnauthorized:
		e.incident = &c.t.incidents.credential
	case (e.Status == http.StatusNotFound || e.Unsupported()) && c.request.listsAll(c.spec):
		e.incident = &c.t.incidents.noAPI
	case len(e.Problems) == 0 && isTLSOnly(e.Status, e.Raw):
		e.Err, e.incident = ErrTLSOnly, &c.t.incidents.unreachable
	}
	return e
}

// errorFrom returns the error of a response, without its reason.
func (c *Call) errorFrom(resp *http.Response) *Error {
	return &Error{
		Status:     resp.StatusCode,
		RequestID:  clean(c.secrets.redact(cmp.Or(resp.Header.Get("X-Request-Id"), c.RequestID)), 128),
		Operation:  c.spec.ID,
		Object:     c.Object,
		collection: !namesObject(c.spec),

		isUnconfirmedPage: (isHTML(resp) || resp.StatusCode < 400) && !c.Last.isForeign && mayBePage(resp.StatusCode),
	}
}

// mismatch describes why a successful response can't be read. It may have a secret,
// so none of it is quoted.
func mismatch(resp *http.Response, err error) string {
	mediaType := mediaType(resp)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		found, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Sprintf("the response is not what the API's contract says: %s is a JSON %s", cmp.Or(wrong.Field, "the whole"), found)
	}
	if mediaType != "" && !strings.HasSuffix(mediaType, "json") {
		return fmt.Sprintf("the response is %s, not the API's JSON; is the base URL right?", clean(mediaType, 60))
	}
	return "the response is no valid JSON"
}

// readAll returns the body of a buffered response.
func readAll(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// isEmptyJSON reports whether a body says nothing.
func isEmptyJSON(body []byte) bool {
	switch string(bytes.TrimSpace(body)) {
	case "", "null", "{}", "[]":
		return true
	}
	return false
}
