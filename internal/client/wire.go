package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Bounds of what is read of one answer.
const (
	maxAnswer  = 64 << 20
	maxRefusal = 64 << 10
)

var errAnswerTooLarge = errors.New("the answer is larger than any the API gives")

// wire is the http.RoundTripper of single attempts: it adds the credential,
// observes how far the request came, and reads the answer to its end, so that an
// answer broken off halfway is a failed attempt like any other.
type wire struct {
	next      http.RoundTripper
	tokens    oauth2.TokenSource
	userAgent string
	log       LogFunc
	hooks     Hooks
	timeout   time.Duration // see Options.ReadTimeout
}

// attempt is how far one attempt came.
type attempt struct {
	refused bool        // nothing was handed to the transport
	traced  atomic.Bool // the transport tells what it does
	written atomic.Bool // the request's header was written
}

// unsent reports whether the request certainly did not reach the API. A
// transport that tells nothing is believed to have sent it.
func (a *attempt) unsent() bool {
	return a == nil || a.refused || a.traced.Load() && !a.written.Load()
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r.Context())
	x.attempt = &attempt{}
	watch := newWatchdog(r.Context(), w.timeout)
	out, err := w.prepare(r.WithContext(watch.ctx), x)
	if err != nil {
		watch.end()
		x.attempt.refused = true
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	begun := w.hooks.Now()
	if r.Method == http.MethodGet {
		watch.start()
	}
	resp, err := w.next.RoundTrip(out)
	if err == nil {
		watch.stop()
		resp.Body = watch.body(resp.Body)
		err = buffer(resp, x.spec)
	} else {
		watch.end()
	}
	err = watch.explain(err)
	w.report(r, x, resp, err, w.hooks.Now().Sub(begun))
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// prepare returns the request of one attempt.
func (w *wire) prepare(r *http.Request, x *exchange) (*http.Request, error) {
	out := r.Clone(httptrace.WithClientTrace(r.Context(), x.attempt.trace()))
	if x.spec.Keyed() {
		// net/http takes an Idempotency-Key for leave to send a POST again by
		// itself when a reused connection breaks. Without GetBody it can't.
		out.GetBody = nil
	}
	x.requestID = w.hooks.NewID()
	out.Header.Set("X-Request-Id", x.requestID)
	out.Header.Set("User-Agent", w.userAgent)
	out.Header.Set("Accept", "application/json")
	if isCSV(x.spec) {
		out.Header.Set("Accept", "text/csv, application/json")
	}
	if w.tokens == nil {
		return out, nil
	}
	token, err := w.tokens.Token()
	if err != nil {
		return nil, newTokenError(err)
	}
	if !slices.Contains(x.secrets, token.AccessToken) {
		x.secrets = append(x.secrets, token.AccessToken)
	}
	token.SetAuthHeader(out)
	return out, nil
}

func (a *attempt) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { a.traced.Store(true) },
		WroteHeaders: func() { a.written.Store(true) },
	}
}

// buffer reads the body of a response into memory. A CSV stream stays as it is.
func buffer(resp *http.Response, s api.Spec) error {
	success := resp.StatusCode >= 200 && resp.StatusCode <= 299
	if success && isCSV(s) {
		return nil
	}
	limit := int64(maxRefusal)
	if success {
		limit = maxAnswer
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	resp.Body = io.NopCloser(bytes.NewReader(body[:min(int64(len(body)), limit)]))
	switch {
	case !success: // its status says enough
		return nil
	case err != nil:
		return fmt.Errorf("the response broke off: %w", err)
	case int64(len(body)) > limit:
		return errAnswerTooLarge
	}
	return nil
}

func isCSV(s api.Spec) bool { return s.Response == reflect.TypeFor[api.CSV]() }

// report logs an attempt. The path holds ids and names; a query would add what
// is searched for, so it is left out.
func (w *wire) report(r *http.Request, x *exchange, resp *http.Response, err error, took time.Duration) {
	if w.log == nil {
		return
	}
	fields := map[string]any{
		"operation":   x.spec.ID,
		"method":      r.Method,
		"path":        r.URL.Path,
		"attempt":     x.tries + 1,
		"duration_ms": took.Milliseconds(),
		"request_id":  x.requestID,
	}
	if resp != nil {
		fields["status"] = resp.StatusCode
	}
	if err != nil {
		fields["error"] = x.redact(err.Error())
	}
	w.log(r.Context(), "API request", fields)
}

// tokenError says that no access token could be had. The body of the issuer's
// answer is left out: it may quote the credential.
type tokenError struct {
	msg   string
	final bool
}

func newTokenError(err error) *tokenError {
	e := &tokenError{msg: "no access token could be had from the OAuth issuer"}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		e.msg += ": " + failed.Err.Error()
	}
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return e
	}
	if answer.ErrorCode != "" {
		e.msg += ": " + clean(answer.ErrorCode+" "+answer.ErrorDescription, maxMessage)
	}
	if answer.Response != nil {
		code := answer.Response.StatusCode
		e.msg += fmt.Sprintf(" (HTTP %d)", code)
		e.final = code < 500 && code != http.StatusTooManyRequests
	}
	return e
}

// Error implements error.
func (e *tokenError) Error() string { return e.msg }
