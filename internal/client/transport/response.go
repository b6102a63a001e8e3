package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Do sends one request and decodes its response. If the outcome of a keyed
// request is unknown, Do fails.
func Do[Req, Resp any](ctx context.Context, t *Transport, op api.Operation[Req, Resp], req *Req, opts ...Option) (*Resp, error) {
	c, err := t.NewCall(op.Spec, req, opts...)
	if err != nil {
		return nil, err
	}
	return Send[Resp](ctx, c)
}

// Send sends the request of a call and decodes its response. A response without
// content, null or {} is the zero value.
func Send[Resp any](ctx context.Context, c *Call) (*Resp, error) {
	resp, err := c.do(ctx)
	if err != nil {
		return nil, err
	}
	body, err := readAll(resp)
	if err != nil {
		return nil, c.unreadable(resp, mismatch(resp, err))
	}
	v := new(Resp)
	// [] is an empty response too, unless the response is a list.
	isList := reflect.TypeFor[Resp]().Kind() == reflect.Slice
	if isEmptyJSON(body) && !isList || reflect.TypeFor[Resp]() == reflect.TypeFor[api.NoContent]() {
		return v, nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return nil, c.unreadable(resp, mismatch(resp, err))
	}
	c.t.confirmed.Store(true)
	return v, nil
}

// Stream sends a request whose response is CSV. The caller closes it, and keeps
// ctx alive while reading.
func Stream[Req any](ctx context.Context, t *Transport, op api.Operation[Req, api.CSV], req *Req) (io.ReadCloser, error) {
	c, err := t.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// do sends the request, as often as is safe, and returns a successful response.
// Its error is an *Error.
func (c *Call) do(ctx context.Context) (*http.Response, error) {
	if _, lookup := lookupKey(ctx); !lookup {
		if err := c.t.outage.allow(c.t.hooks.Now()); err != nil {
			c.Last = Attempt{Outcome: c.Last.Outcome, notSent: true}
			return nil, c.failed(err)
		}
	}
	resp, err := c.sendUntilDone(ctx)
	if err != nil {
		return nil, c.failed(err)
	}
	c.readIdempotency(resp)
	if !isSuccess(resp) {
		return nil, c.refused(resp)
	}
	c.Last.Accepted = true
	return resp, nil
}

// readIdempotency reads the headers on idempotency. An Idempotency-Replayed header
// proves that the API honours Idempotency-Keys.
func (c *Call) readIdempotency(resp *http.Response) {
	c.Last.Resumed = resp.Header.Get(api.IdempotencyResumedHeader) == "true"
	if !c.spec.Keyed() || len(resp.Header.Values(api.IdempotencyReplayedHeader)) == 0 {
		return
	}
	c.t.honoursKeys.Store(true)
	c.Last.Replayed = resp.Header.Get(api.IdempotencyReplayedHeader) == "true"
}

// mismatch describes why a successful response can't be read, without a quote.
func mismatch(resp *http.Response, err error) string {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
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
