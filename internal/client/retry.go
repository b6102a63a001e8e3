package client

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// retryPolicy bounds the patience of one logical call, over all its attempts.
type retryPolicy struct {
	max              int
	waitMin, waitMax time.Duration
	budget           time.Duration
}

// newRetryClient configures go-retryablehttp so that every decision is made by
// the exchange: its own policy would send a POST again blindly.
func newRetryClient(w *wire) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: w,
			// The API has no redirects. Following one would carry the request, and
			// the credential that wire adds, to somewhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt32, // the exchange counts, over several rounds
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return exchangeOf(ctx).judge(ctx, resp, err), nil
		},
		// The wait itself is in PrepareRetry, where a test can replace it.
		Backoff: func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: func(r *http.Request) error {
			return exchangeOf(r.Context()).pause(r.Context())
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// judge records the outcome of an attempt and reports whether another follows
// at once. After a lost keyed request none does: create looks first.
func (x *exchange) judge(ctx context.Context, resp *http.Response, err error) bool {
	x.tries++
	x.status = 0
	if err != nil {
		x.cause = x.plain(err)
	}
	switch {
	case resp != nil:
		x.status = resp.StatusCode
		x.c.serverClock.note(resp, x.c.hooks.Now())
		x.c.reached.Store(true)
		x.c.outage.end()
	case ctx.Err() != nil:
		x.c.outage.release()
	case x.c.outage.lasts():
		x.c.outage.begin(x.c.hooks.Now(), x.cause)
	}
	x.latest = x.classify(resp, err)
	if x.latest == lost {
		x.lost = true
	}
	if x.latest == final || x.latest == lost && x.spec.Keyed() {
		return false
	}
	asked, _ := retryAfter(resp, x.c.hooks.Now())
	return x.again(ctx, asked)
}

func (x *exchange) classify(resp *http.Response, err error) verdict {
	if err != nil {
		return x.classifyFailure(err)
	}
	_, asked := retryAfter(resp, x.c.hooks.Now())
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests,
		code == http.StatusServiceUnavailable && asked,
		code == http.StatusConflict && asked && x.spec.Keyed(): // the same key is still at work
		return unprocessed
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported:
		return final
	case code >= 500, code == http.StatusRequestTimeout:
		return lost
	}
	return final
}

func (x *exchange) classifyFailure(err error) verdict {
	switch unsent := x.attempt.unsent(); {
	case unsent && hopeless(err):
		return final
	case unsent:
		return unprocessed
	case errors.Is(err, errAnswerTooLarge) && !x.spec.Keyed(), errors.Is(err, ErrTLSOnly):
		return final
	}
	return lost
}

// hopeless reports whether a failure to send would be the same next time.
func hopeless(err error) bool {
	if refused, ok := errors.AsType[*tokenError](err); ok {
		return refused.final
	}
	if notFound, ok := errors.AsType[*net.DNSError](err); ok {
		return notFound.IsNotFound
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	return errors.Is(err, ErrNotTLS)
}

// again reports whether another attempt is allowed, and sets how long to wait
// before it: asked, as the API wants it, or a random time that grows.
func (x *exchange) again(ctx context.Context, asked time.Duration) bool {
	p := x.c.retry
	unreachable := x.status == 0
	if ctx.Err() != nil || unreachable && x.c.outage.lasts() {
		return false
	}
	if x.tries > p.max {
		return x.giveUp(unreachable)
	}
	if asked > 0 {
		// Whoever was told the same time should not come back at the same moment.
		x.wait = asked + x.c.hooks.Jitter(p.waitMin)
	} else {
		x.wait = x.c.hooks.Jitter(p.ceiling(x.tries))
	}
	end := x.c.hooks.Now().Add(x.wait)
	if deadline, ok := ctx.Deadline(); ok && end.After(deadline) {
		return false
	}
	return !end.After(x.begun.Add(x.patience())) || x.giveUp(unreachable)
}

// Patience with an API that gives no response.
const (
	// firstContact is for one that has never responded to this client: base_url is
	// probably wrong, but a server that is just starting is still met.
	firstContact = 10 * time.Second
	// readPatience is for a GET that was sent.
	readPatience = time.Minute
)

// patience is the time, from the beginning of a call, in which it begins new
// attempts.
func (x *exchange) patience() time.Duration {
	budget, unsent := x.c.retry.budget, x.attempt.unsent()
	switch {
	case x.status == 0 && unsent && !x.c.reached.Load():
		return min(budget, firstContact)
	case x.status == 0 && !unsent && x.spec.Method == http.MethodGet:
		return min(budget, readPatience)
	}
	return budget
}

// giveUp ends a call's patience, and that of the calls to come where the API
// can't be reached.
func (x *exchange) giveUp(unreachable bool) (again bool) {
	if unreachable {
		x.c.outage.begin(x.c.hooks.Now(), x.cause)
	}
	return false
}

// ceiling is the longest wait after a number of attempts: it doubles up to the
// cap.
func (p retryPolicy) ceiling(tries int) time.Duration {
	d := p.waitMin
	for range tries - 1 {
		if d >= p.waitMax {
			break
		}
		d *= 2
	}
	return min(d, p.waitMax)
}

// pause waits as again decided.
func (x *exchange) pause(ctx context.Context) error {
	return x.c.hooks.Sleep(ctx, x.wait)
}

// maxRetryAfter keeps arithmetic on what a server asks for from overflowing.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter reads the header in both its forms: seconds, and a date.
func retryAfter(resp *http.Response, now time.Time) (wait time.Duration, ok bool) {
	if resp == nil {
		return 0, false
	}
	value := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}
