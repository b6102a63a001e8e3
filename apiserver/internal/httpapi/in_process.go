package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Client returns an HTTP client that calls the handler in process. Its requests come from
// trusted and need no credential, unless that is nil.
func (h *Handler) Client(trusted *auth.Caller) *http.Client {
	return &http.Client{Transport: handlerTransport{h, trusted}}
}

// handlerTransport is an http.RoundTripper that calls a handler.
type handlerTransport struct {
	handler http.Handler
	trusted *auth.Caller
}

var errAborted = errors.New("the in-process handler aborted the response")

// RoundTrip implements http.RoundTripper. It streams the response body.
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	if t.trusted != nil {
		ctx = auth.WithTrusted(ctx, *t.trusted)
	}
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, out := io.Pipe()
	w := &pipedResponse{header: http.Header{}, body: out, begun: make(chan struct{}), headOnly: r.Method == http.MethodHead}
	// Reading the body fails too if the request is cancelled.
	stop := context.AfterFunc(ctx, func() { _ = out.CloseWithError(ctx.Err()) })
	go func() {
		defer in.Body.Close()
		defer stop()
		defer func() {
			var err error
			if cause := recover(); cause != nil {
				if err = ctx.Err(); err == nil { // the handler may see it first
					err = errAborted
				}
			}
			w.end(err)
		}()
		t.handler.ServeHTTP(w, in)
	}()
	select {
	case <-w.begun:
	case <-ctx.Done():
		err := ctx.Err()
		cancel()
		_ = body.CloseWithError(err)
		return nil, err
	}
	if w.failed != nil {
		cancel()
		return nil, w.failed
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipedBody{PipeReader: body, cancel: cancel}, ContentLength: -1, Request: r,
	}, nil
}

// pipedResponse is the http.ResponseWriter of one call, for the handler's goroutine. begun
// passes status, sent and failed to RoundTrip.
type pipedResponse struct {
	header http.Header
	body   *io.PipeWriter
	begun  chan struct{}
	status int
	sent   http.Header
	failed error
	// headOnly reports that the response has no body, whatever the handler writes.
	headOnly bool
}

func (w *pipedResponse) Header() http.Header { return w.header }

func (w *pipedResponse) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	close(w.begun)
}

func (w *pipedResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.headOnly {
		return len(b), nil
	}
	return w.body.Write(b)
}

// Flush implements http.Flusher; a pipe holds nothing back.
func (w *pipedResponse) Flush() { w.WriteHeader(http.StatusOK) }

// end ends the response; err reports that the handler aborted it.
func (w *pipedResponse) end(err error) {
	if w.status == 0 && err != nil {
		w.failed = err
		close(w.begun)
	} else {
		w.WriteHeader(http.StatusOK)
	}
	_ = w.body.CloseWithError(err)
}

// pipedBody ends the handler's request when the reader is done.
type pipedBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *pipedBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
