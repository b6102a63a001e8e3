package client

import (
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

// call sends one operation and decodes its answer. A keyed operation whose
// outcome is unknown fails; create knows what to do then.
func call[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, opts ...option) (*Resp, error) {
	x, err := c.begin(op.Spec, req, opts...)
	if err != nil {
		return nil, err
	}
	return send[Resp](ctx, x)
}

// send sends a prepared request and decodes its answer.
func send[Resp any](ctx context.Context, x *exchange) (*Resp, error) {
	resp, err := x.do(ctx)
	if err != nil {
		return nil, err
	}
	return decode[Resp](x, resp)
}

// decode reads a successful answer. One without content, null or {} becomes the
// zero value: the caller knows whether that will do.
func decode[Resp any](x *exchange, resp *http.Response) (*Resp, error) {
	body, err := readAll(resp)
	if err != nil {
		return nil, x.unreadable(resp, err)
	}
	answer := new(Resp)
	if isEmptyJSON(body) && !isList(answer) || reflect.TypeFor[Resp]() == reflect.TypeFor[api.NoContent]() {
		return answer, nil
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return nil, x.unreadable(resp, err)
	}
	x.c.answers.Store(true)
	return answer, nil
}

// isList reports whether an answer is a bare array, which [] is no empty form
// of but a value.
func isList(answer any) bool {
	return reflect.TypeOf(answer).Elem().Kind() == reflect.Slice
}

// unreadable is the error of a success that is not what the contract says. The
// answer may hold a secret, so none of it is quoted.
func (x *exchange) unreadable(resp *http.Response, err error) *Error {
	e := x.answered(resp)
	mismatch, mismatched := errors.AsType[*json.UnmarshalTypeError](err)
	switch mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case mismatched:
		kind, _, _ := strings.Cut(mismatch.Value, " ")
		e.Err = fmt.Errorf("the answer is not what the API's contract says: %s is a JSON %s", cmp.Or(mismatch.Field, "the whole"), kind)
	case mediaType != "" && !strings.HasSuffix(mediaType, "json"):
		e.Err = fmt.Errorf("the answer is %s, not the API's JSON; is the base URL right?", clean(mediaType, 60))
	default:
		e.Err = errors.New("the answer is no valid JSON")
	}
	return e
}

// stream sends an operation whose answer is CSV. The caller closes it, and keeps
// ctx alive while reading.
func stream[Req any](ctx context.Context, c *Client, op api.Operation[Req, api.CSV], req *Req) (io.ReadCloser, error) {
	x, err := c.begin(op.Spec, req)
	if err != nil {
		return nil, err
	}
	resp, err := x.do(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
