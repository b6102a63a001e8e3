package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Client returns an HTTP client that calls the service in process, without a
// socket. Requests need their own credential, as over the network; their host
// is of no matter.
func (s *Service) Client() *http.Client {
	return &http.Client{Transport: handlerTransport{handler: s.handler}}
}

// OwnerClient is like Client for a program that holds the database in its hands:
// its requests act as the account's owner and need no credential.
func (s *Service) OwnerClient(accountID string) *http.Client {
	owner := auth.Owner(accountID)
	return &http.Client{Transport: handlerTransport{handler: s.handler, trusted: &owner}}
}

// handlerTransport is an http.RoundTripper that calls a handler.
type handlerTransport struct {
	handler http.Handler
	trusted *auth.Caller
}

var errAborted = errors.New("the in-process handler aborted the answer")

// RoundTrip implements http.RoundTripper. The answer's body is streamed as the
// handler writes it.
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
	w := &pipedAnswer{header: http.Header{}, body: out, begun: make(chan struct{}), headOnly: r.Method == http.MethodHead}
	// Whoever cancels the request gets to know it from the body too.
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

// pipedAnswer is the http.ResponseWriter of one in-process call. It is used by
// the handler's goroutine alone; begun hands status, sent and failed over.
type pipedAnswer struct {
	header http.Header
	body   *io.PipeWriter
	begun  chan struct{}
	status int
	sent   http.Header
	failed error
	// headOnly says that the answer has no body whatever the handler writes.
	headOnly bool
}

func (w *pipedAnswer) Header() http.Header { return w.header }

func (w *pipedAnswer) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
	close(w.begun)
}

func (w *pipedAnswer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.headOnly {
		return len(b), nil
	}
	return w.body.Write(b)
}

// Flush implements http.Flusher; a pipe holds nothing back.
func (w *pipedAnswer) Flush() { w.WriteHeader(http.StatusOK) }

// end concludes the answer; err says that the handler gave up in the middle.
func (w *pipedAnswer) end(err error) {
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
