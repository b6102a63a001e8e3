package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Client returns an HTTP client that calls the handler in process. If trusted is not nil, the
// requests come from that caller and require no credential.
func (h *Handler) Client(trusted *auth.Caller) *http.Client {
	return &http.Client{Transport: handlerTransport{h, trusted}}
}

// handlerTransport is an http.RoundTripper that calls a handler.
type handlerTransport struct {
	handler *Handler
	trusted *auth.Caller
}

var errAborted = errors.New("the in-process handler aborted the response")

// RoundTrip implements http.RoundTripper. It holds the response in memory.
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	in.Host = cmp.Or(in.Host, r.URL.Host)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	w := &response{header: http.Header{}}
	aborted := aborts(func() { t.handler.serve(w, in, t.begin(in)) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.Method == http.MethodHead {
		w.body.Reset()
	}
	body := io.Reader(&w.body)
	if aborted && w.status == 0 {
		return nil, errAborted
	} else if aborted {
		end, abort := io.Pipe()
		_ = abort.CloseWithError(errAborted) // never fails
		body = io.MultiReader(body, end)
	}
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: io.NopCloser(body), ContentLength: -1, Request: r,
	}, nil
}

// begin is Handler.begin for an in-process request.
func (t handlerTransport) begin(r *http.Request) *progress {
	p := t.handler.begin(r)
	if p.InProcess, p.Trusted = true, t.trusted != nil; p.Trusted {
		p.identified = func() (auth.Caller, error) { return *t.trusted, nil }
	}
	return p
}

// response records the response of one call.
type response struct {
	header, sent http.Header
	status       int
	body         bytes.Buffer
}

// aborts reports whether a handler aborted its response by a panic. The pipeline has logged the
// cause.
func aborts(handle func()) (aborted bool) {
	defer func() { aborted = recover() != nil }()
	handle()
	return false
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
