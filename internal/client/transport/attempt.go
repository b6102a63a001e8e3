package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Limits of the bytes that are read of one response.
const (
	maxResponse      = 64 << 20
	maxErrorResponse = 64 << 10
)

// minProgress is how many bytes of a body have to arrive within ReadTimeout. Without it, a
// connection that delivers a byte now and then would hold up a run for hours.
const minProgress = 16 << 10

// attempt waits for a permit, sends the request once and records the result in c.Last. It
// reads the response to its end, so that one that breaks off is a failed attempt.
func (c *Call) attempt(r *http.Request) (*http.Response, error) {
	t, ctx := c.t, r.Context()
	permit, err := c.permit(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { permit.end(c.spec, c.Last.Status, c.Last.Header) }()
	c.Attempts++
	c.RequestID = t.Hooks.NewID()
	c.Last = Attempt{notSent: true, started: t.Hooks.Now()}
	timer := newStallTimer(ctx, t.Hooks.ReadTimeout)
	// How far the sending came. A RoundTripper that is not traced is assumed to have
	// sent the request.
	var traced, written atomic.Bool
	req := r.Clone(httptrace.WithClientTrace(timer.ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { traced.Store(true) },
		WroteHeaders: func() { written.Store(true) },
	}))
	if err := c.complete(req); err != nil {
		timer.end()
		c.Last.cause = c.secrets.redactError(err)
		return nil, err
	}
	started := t.Hooks.Now()
	if req.Method == http.MethodGet {
		timer.start()
	}
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		timer.stop()
		resp.Body = &timedBody{ReadCloser: resp.Body, timer: timer, left: t.Hooks.ReadTimeout}
		err = buffer(resp, c.spec)
	} else {
		timer.end()
	}
	c.Last.notSent = traced.Load() && !written.Load()
	c.Last.Took = t.Hooks.Now().Sub(started)
	if err != nil {
		err = timer.explain(err)
		resp, c.Last.cause = nil, c.secrets.redactError(err)
	} else {
		c.Last.Status, c.Last.Header = resp.StatusCode, resp.Header
		c.Last.isForeign = c.isForeign(resp)
		if resp.Header.Get(api.IdempotencyReplayedHeader) != "" {
			t.HonoursKeys.Store(true)
		}
	}
	c.log(ctx, req)
	return resp, err
}

// complete sets the headers of the request of one attempt.
func (c *Call) complete(req *http.Request) error {
	req.Header = c.request.header.Clone()
	if c.spec.Keyed() {
		// net/http resends a POST with an Idempotency-Key by itself when a reused
		// connection breaks. Without GetBody it can't.
		req.GetBody = nil
	} else if key, ok := lookupKey(req.Context()); ok {
		req.Header.Set(api.IdempotencyKeyHeader, key) // the response shows whether the API honours keys
		c.secrets.add(key)
	}
	req.Header.Set("X-Request-Id", c.RequestID)
	req.Header.Set("User-Agent", c.t.userAgent)
	req.Header.Set("Accept", "application/json")
	if isCSV(c.spec) {
		req.Header.Set("Accept", "text/csv, application/json")
	}
	if c.t.tokens == nil {
		return nil
	}
	token, err := c.t.tokens.Token()
	if err != nil {
		return newTokenError(err)
	}
	c.secrets.add(token.AccessToken)
	token.SetAuthHeader(req)
	return nil
}

// buffer reads the body of a response into memory. A CSV stream stays as it is.
func buffer(resp *http.Response, s api.Spec) error {
	success := isSuccess(resp)
	if success && isCSV(s) {
		return nil
	}
	limit := int64(maxErrorResponse)
	if success {
		limit = maxResponse
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	resp.Body = io.NopCloser(bytes.NewReader(body[:min(int64(len(body)), limit)]))
	switch {
	case !success: // the status code is enough
		return nil
	case err != nil:
		return fmt.Errorf("the response broke off: %w", err)
	case int64(len(body)) > limit:
		return errResponseTooLarge
	}
	return nil
}

// isForeign reports whether something between here and the API has sent or damaged a
// response: a success that can't be decoded or is one to another request, an error page, or
// a redirect, which the API does not use. If the base URL has never sent anything of the
// contract, a page is the response of another server, which stays the same.
func (c *Call) isForeign(resp *http.Response) bool {
	confirmed := c.t.Confirmed.Load()
	switch {
	case isSuccess(resp) && c.decode != nil:
		isReadable := c.decode(resp)
		t := mediaType(resp) // none if nothing arrived
		return !isReadable && (confirmed || t == "" || strings.HasSuffix(t, "json")) || c.isToAnother(resp)
	case resp.StatusCode == http.StatusNotFound:
		return confirmed && (isHTML(resp) || c.isToAnother(resp))
	case resp.StatusCode >= 400:
		return confirmed && isHTML(resp)
	case resp.StatusCode >= 300:
		return confirmed
	}
	return false
}

// isToAnother reports whether a response does not have the request's id, although responses
// of this API do. A cache has sent it, or a proxy has confused two connections. That is no
// reason to send a keyed request again, which may spend money: no cache responds to it.
func (c *Call) isToAnother(resp *http.Response) bool {
	if resp.Header.Get("X-Request-Id") == c.RequestID {
		c.t.returnsIDs.Store(true)
		return false
	}
	return c.t.returnsIDs.Load() && !c.spec.Keyed()
}

func isHTML(resp *http.Response) bool { return mediaType(resp) == "text/html" }

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

func isSuccess(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode <= 299 }

// log writes a line on an attempt. The path has ids and names; the query is left
// out, because it has what is searched for.
func (c *Call) log(ctx context.Context, req *http.Request) {
	if c.t.log == nil {
		return
	}
	fields := map[string]any{
		"operation":   c.spec.ID,
		"method":      req.Method,
		"path":        req.URL.Path,
		"attempt":     c.Attempts,
		"duration_ms": c.Last.Took.Milliseconds(),
		"request_id":  c.RequestID,
	}
	if c.Last.Status != 0 {
		fields["status"] = c.Last.Status
	}
	if c.Last.cause != nil {
		fields["error"] = c.Last.cause.Error()
	}
	c.t.log(ctx, "API request", fields)
}

// stallTimer cancels an attempt that makes no progress for some time: no response,
// or no further part of its body. It limits neither the size of a body nor the
// time of a whole download.
type stallTimer struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
	// hasBegun: a part of the body has arrived.
	hasBegun atomic.Bool
}

// newStallTimer returns a timer that is not started. The caller calls end, or
// closes the body.
func newStallTimer(ctx context.Context, limit time.Duration) *stallTimer {
	t := &stallTimer{limit: limit}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.timer = time.AfterFunc(limit, func() { t.cancel(&timeoutError{after: limit, isSlow: t.hasBegun.Load()}) })
	t.timer.Stop()
	return t
}

func (t *stallTimer) start() { t.timer.Reset(t.limit) }
func (t *stallTimer) stop()  { t.timer.Stop() }

func (t *stallTimer) end() {
	t.stop()
	t.cancel(nil)
}

// explain replaces the error of an attempt that the timer has cancelled.
func (t *stallTimer) explain(err error) error {
	if expired, ok := errors.AsType[*timeoutError](context.Cause(t.ctx)); ok {
		return expired
	}
	return explainFailure(err)
}

// timedBody is a body whose reads are timed.
type timedBody struct {
	io.ReadCloser

	timer *stallTimer
	read  int           // bytes since the time began
	left  time.Duration // of the time for minProgress bytes; what the caller does with them takes none
}

func (b *timedBody) Read(p []byte) (int, error) {
	begun := time.Now()
	b.timer.timer.Reset(max(b.left, 0))
	n, err := b.ReadCloser.Read(p)
	b.timer.stop()
	b.timer.hasBegun.Store(true)
	b.read, b.left = b.read+n, b.left-time.Since(begun)
	if b.read >= minProgress {
		b.read, b.left = 0, b.timer.limit
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.timer.explain(err)
	}
	return n, err
}

func (b *timedBody) Close() error {
	err := b.ReadCloser.Close()
	b.timer.end()
	return err
}
