package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// watchdog cancels an attempt that makes no progress for some time: no response,
// or none of the response's body. It bounds neither the size of a body nor the
// time of a whole download.
type watchdog struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	limit   time.Duration
	timer   *time.Timer
	expired error
}

// newWatchdog returns one that is not started. end must be called, or the body be
// closed.
func newWatchdog(ctx context.Context, limit time.Duration) *watchdog {
	d := &watchdog{limit: limit, expired: &timeoutError{limit}}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	d.timer = time.AfterFunc(limit, func() { d.cancel(d.expired) })
	d.timer.Stop()
	return d
}

func (d *watchdog) start() { d.timer.Reset(d.limit) }
func (d *watchdog) stop()  { d.timer.Stop() }

func (d *watchdog) end() {
	d.stop()
	d.cancel(nil)
}

// body watches the reads of a response's body.
func (d *watchdog) body(b io.ReadCloser) io.ReadCloser { return &watchedBody{b, d} }

// explain replaces the error of an attempt that the watchdog has cancelled.
func (d *watchdog) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(d.ctx), d.expired):
		return d.expired
	}
	return explainTransport(err)
}

type watchedBody struct {
	io.ReadCloser

	watch *watchdog
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.start()
	n, err := b.ReadCloser.Read(p)
	b.watch.stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.watch.explain(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.watch.end()
	return err
}

// timeoutError says that an attempt was given up.
type timeoutError struct{ after time.Duration }

// Error implements error.
func (e *timeoutError) Error() string { return fmt.Sprintf("no response within %s", e.after) }

// Causes of a call that failed because base_url has the wrong scheme.
var (
	// ErrNotTLS: the URL is https, and the server at the port speaks HTTP.
	ErrNotTLS = errors.New("the server at this address speaks plain HTTP, not HTTPS")
	// ErrTLSOnly: the URL is http, and the server at the port speaks HTTPS.
	ErrTLSOnly = errors.New("the server at this address speaks HTTPS, not plain HTTP")
)

// explainTransport replaces errors of net/http by ours.
func explainTransport(err error) error {
	if header, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(header.RecordHeader[:]) == "HTTP/" {
		return ErrNotTLS
	}
	switch text := err.Error(); {
	case strings.Contains(text, `malformed HTTP response "\x15\x03`): // a TLS alert
		return ErrTLSOnly
	case strings.Contains(text, "timeout awaiting response headers"):
		return &timeoutError{writeTimeout}
	}
	return err
}

// saysTLSOnly recognises what servers send to a client that speaks HTTP to a port
// for HTTPS.
func saysTLSOnly(status int, body string) bool {
	body = strings.ToLower(body)
	return status == http.StatusBadRequest && strings.Contains(body, "http request") && strings.Contains(body, "https")
}
