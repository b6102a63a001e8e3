package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Limits of one attempt.
const (
	maxResponse      = 64 << 20
	maxErrorResponse = 64 << 10

	readTimeout  = 30 * time.Second // until the header of the response to a GET, and between two parts of an export
	writeTimeout = 90 * time.Second // until the header of another response: a bulk create is slow on some APIs
	bodyTimeout  = 2 * time.Minute  // for the whole body of a response
)

// Outcome is the known effect of an attempt. Outcomes can be combined to sets.
type Outcome uint

// The outcomes; the package comment maps responses to them.
const (
	// Succeeded: the API accepted the request, whatever its response contains.
	Succeeded Outcome = 1 << iota
	// Refused: this attempt had no effect, and another one would fail in the same way.
	Refused
	// Busy: the API responded that it did not process the request.
	Busy
	// NotSent: the request did not reach the API.
	NotSent
	// Failed: the API responded, and may have processed the request.
	Failed
	// NoResponse: the API may have processed the request, or still do so.
	NoResponse

	// Unknown are the outcomes after which the request may have taken effect.
	Unknown = Failed | NoResponse
)

// In reports whether an outcome is one of a set.
func (o Outcome) In(set Outcome) bool { return o&set != 0 }

type Attempt struct {
	Outcome Outcome
	Took    time.Duration

	status  int // of the response; 0 without one
	header  http.Header
	body    []byte // nil if the caller reads it
	started time.Time
	cause   error // why there was no response
	notSent bool  // the request certainly did not reach the API
}

// attempt sends the request once and records the result in c.Last. A response that breaks off is an error.
func (c *Call) attempt(r *http.Request) (*http.Response, error) {
	t := c.t
	c.Attempts++
	c.RequestID = t.Hooks.NewID()
	c.Last = Attempt{notSent: true, started: t.Hooks.Now()}
	req := r.Clone(r.Context())
	if err := c.complete(req); err != nil {
		return nil, err
	}
	w := newWatchdog(r.Context())
	// If the RoundTripper does not call the trace, assume that it sent the request.
	var traced, written atomic.Bool
	req = req.WithContext(httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { traced.Store(true) },
		WroteHeaders: func() { written.Store(true) },
	}))
	started := t.Hooks.Now()
	w.limit(map[bool]time.Duration{true: readTimeout, false: writeTimeout}[req.Method == http.MethodGet])
	resp, err := t.Transport.RoundTrip(req)
	if err == nil {
		err = c.readBody(resp, w)
	} else {
		err = w.explain(err)
	}
	if err != nil || !c.isStream(resp) {
		w.end()
	}
	c.Last.notSent = traced.Load() && !written.Load()
	c.Last.Took = t.Hooks.Now().Sub(started)
	if err == nil {
		c.Last.status, c.Last.header = resp.StatusCode, resp.Header
		if resp.Header.Get(api.IdempotencyReplayedHeader) != "" {
			t.HonoursKeys.Store(true)
		}
	}
	c.log(r.Context(), req, err)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// complete sets the headers of the request of one attempt.
func (c *Call) complete(req *http.Request) error {
	req.Header = c.request.Header.Clone()
	if c.spec.Keyed() {
		// net/http resends a POST with an Idempotency-Key by itself when a reused
		// connection breaks. Without GetBody it can't.
		req.GetBody = nil
	} else if c.isLookup() {
		req.Header.Set(api.IdempotencyKeyHeader, c.lookupKey)
		c.secrets.add(c.lookupKey)
	}
	req.Header.Set("X-Request-Id", c.RequestID)
	req.Header.Set("User-Agent", c.t.UserAgent)
	req.Header.Set("Accept", "application/json")
	if c.isExport() {
		req.Header.Set("Accept", "text/csv, application/json")
	}
	if c.t.tokens == nil {
		return nil
	}
	token, err := c.t.tokens.Token()
	if err != nil {
		return newTokenError(err, c.secrets)
	}
	c.token = token.AccessToken
	c.secrets.add(c.token)
	token.SetAuthHeader(req)
	return nil
}

// readBody reads the body of a response into memory. It leaves the rows of an export to the caller.
func (c *Call) readBody(resp *http.Response, w *watchdog) error {
	if c.isStream(resp) {
		w.timer.Stop()
		resp.Body = &watchedBody{resp.Body, w}
		return nil
	}
	w.limit(bodyTimeout)
	defer resp.Body.Close()
	limit := map[bool]int64{true: maxResponse, false: maxErrorResponse}[isSuccess(resp)]
	var err error
	c.Last.body, err = io.ReadAll(http.MaxBytesReader(nil, resp.Body, limit))
	c.Last.body = bytes.TrimPrefix(c.Last.body, []byte("\ufeff")) // a byte order mark
	if err == nil || !isSuccess(resp) {                           // the status code of a failure is enough
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errResponseTooLarge
	}
	return fmt.Errorf("the response broke off: %w", w.explain(err))
}

// isStream reports whether the caller reads the body of a response: the rows of an export.
func (c *Call) isStream(resp *http.Response) bool {
	return isSuccess(resp) && c.isExport() && mediaType(resp) != "text/html"
}

// isPage reports whether a server in front of the API sent the latest response: an HTML page, or a redirect, which
// the API does not use. Where the status code is about the request, the credential, the operation, a conflict or the
// rate, the API refused: after a conflict, a lookup would take the existing object for the new one.
func (c *Call) isPage(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return false
	}
	isRedirect := resp.StatusCode/100 == 3
	return isRedirect || resp.StatusCode < 500 && mediaType(resp) == "text/html" && !isEmptyJSON(c.Last.body) && !json.Valid(c.Last.body)
}

// isDamaged reports whether the body of a success can't be the API's.
func (c *Call) isDamaged() bool {
	switch body := bytes.TrimSpace(c.Last.body); {
	case c.isExport(): // CSV rows, not JSON
		return c.Last.body != nil
	case c.spec.Response == noContent:
		return false
	case len(body) == 0:
		return c.spec.Method == http.MethodGet // responses to other methods may be empty
	default:
		return !json.Valid(body)
	}
}

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

func isSuccess(resp *http.Response) bool { return resp.StatusCode/100 == 2 }

// log writes one line about an attempt. It omits the query, which contains search terms.
func (c *Call) log(ctx context.Context, req *http.Request, err error) {
	if c.t.Log == nil {
		return
	}
	fields := map[string]any{
		"operation": c.spec.ID, "method": req.Method, "path": req.URL.Path,
		"attempt": c.Attempts, "duration_ms": c.Last.Took.Milliseconds(), "request_id": c.RequestID,
	}
	if c.Last.status != 0 {
		fields["status"] = c.Last.status
	}
	if err != nil {
		fields["error"] = c.secrets.redact(err.Error())
	}
	c.t.Log(ctx, "API request", fields)
}

// watchdog cancels an attempt that takes longer than a limit.
type watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// newWatchdog returns a watchdog without a limit. The caller must call end.
func newWatchdog(ctx context.Context) *watchdog {
	w := &watchdog{timer: time.NewTimer(0)}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// limit starts a new limit in place of the current one.
func (w *watchdog) limit(d time.Duration) {
	w.timer.Stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(timeoutError(d)) })
}

func (w *watchdog) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain replaces the error of an attempt that the watchdog cancelled, or that ended with a timeout of package net.
func (w *watchdog) explain(err error) error {
	if expired, ok := errors.AsType[timeoutError](context.Cause(w.ctx)); ok {
		return expired
	}
	// A timeout of package net, for instance of a dial, is context.DeadlineExceeded too, but here that
	// error means that the caller's deadline passed.
	if w.ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return errors.New(err.Error())
	}
	return explainFailure(err)
}

// watchedBody is the body of an export. It limits the wait for each part, but not the time in which the
// caller processes it.
type watchedBody struct {
	io.ReadCloser

	watchdog *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watchdog.limit(readTimeout)
	n, err := b.ReadCloser.Read(p)
	b.watchdog.timer.Stop()
	if err != nil {
		err = b.watchdog.explain(err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	defer b.watchdog.end()
	return b.ReadCloser.Close()
}
