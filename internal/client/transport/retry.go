package transport

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Time limits of a call that gets no response.
const (
	// firstContact is for a server that has never responded: base_url is probably
	// wrong, but the server may also just be starting.
	firstContact = 10 * time.Second
	// readPatience is for a GET that was sent, and besidePatience from the latest response to
	// another call in its time.
	readPatience   = time.Minute
	besidePatience = 2 * time.Minute
	// lookupPatience is for a GET that looks up what a create has done: what it can't find out,
	// a person has to.
	lookupPatience = 3 * time.Minute
)

// pageRetries is how often a request is resent after a 4xx with an error page, which may be
// there to stay.
const pageRetries = 3

// maxUnsent is how many attempts without a connection don't count, which is more than
// RetryBudget has time for.
const maxUnsent = 60

// sendUntilDone makes attempts until evaluate wants no further one. The loop is
// go-retryablehttp's, and every decision is the call's: the library's own policy would
// resend a create whose outcome is unknown.
func (c *Call) sendUntilDone(ctx context.Context) (*http.Response, error) {
	var body any // an untyped nil if there is none, as retryablehttp requires
	if c.request.body != nil {
		body = c.request.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, c.spec.Method, c.request.url.String(), body)
	if err != nil {
		return nil, errors.New("the request's URL is malformed")
	}
	loop := &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: roundTripperFunc(c.attempt),
			// The API has no redirects. Following one would send the request, and the
			// credential, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt32, // mayRetry counts, over several rounds
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return c.evaluate(ctx, resp, withoutURL(err)), nil
		},
		// The wait is in PrepareRetry, where a test can replace it.
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: func(*http.Request) error { return c.t.Hooks.Sleep(ctx, c.wait) },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := loop.Do(req)
	return resp, withoutURL(err)
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withoutURL returns the cause of an error of http.Client.
func withoutURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// evaluate sets the outcome of the latest attempt and reports whether the request
// is to be resent. A keyed request whose outcome is unknown is not: the caller
// looks up first what it has done.
func (c *Call) evaluate(ctx context.Context, resp *http.Response, err error) (resend bool) {
	now := c.t.Hooks.Now()
	if _, ok := errors.AsType[*unpermittedError](err); ok {
		if ctx.Err() != nil {
			c.t.outage.cancelProbe()
		}
		if c.Attempts == 0 {
			c.Last = Attempt{Outcome: NotSent, notSent: true}
		}
		return false
	}
	switch {
	case resp != nil:
		if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			c.t.clockOffset.Store(new(date.Sub(now)))
		}
		c.t.Reached.Store(true)
		c.t.responded.Store(&now)
		c.t.outage.end()
	case ctx.Err() != nil:
		c.t.outage.cancelProbe()
	case c.t.outage.isOngoing():
		c.t.outage.begin(now, c.Last.cause)
	}
	wait, hasWait := retryAfter(resp, now)
	c.Last.Outcome = c.outcome(resp, err, hasWait)
	if c.isErrorPage() {
		c.pages++
	}
	unknown := c.Last.Outcome.In(Unknown)
	c.anyUnknown = c.anyUnknown || unknown
	if c.Last.Outcome.In(Succeeded|Refused) || unknown && (c.spec.Keyed() || ctx.Value(optionalKey{}) != nil) {
		return false
	}
	return c.mayRetry(ctx, wait)
}

// outcome returns what is known of the latest attempt, as in the table of the
// package comment.
func (c *Call) outcome(resp *http.Response, err error, hasRetryAfter bool) Outcome {
	switch {
	case err == nil && c.Last.isForeign && isSuccess(resp):
		return NoResponse
	case err == nil && c.isErrorPage():
		return Failed
	case err == nil:
		return outcomeOf(resp, hasRetryAfter, c.spec.Keyed())
	case c.Last.notSent && isPermanent(err):
		return Refused
	case c.Last.notSent:
		return NotSent
	case errors.Is(err, errResponseTooLarge) && !c.spec.Keyed(), errors.Is(err, ErrTLSOnly):
		return Refused
	}
	return NoResponse
}

// isErrorPage reports whether the latest response is a 3xx or 4xx of something before the API,
// which may respond itself the next time. A 401 is about the credential, a 405 about the
// operation, and a 429 says by itself when to come back.
func (c *Call) isErrorPage() bool {
	return c.Last.isForeign && mayBePage(c.Last.Status)
}

// mayBePage reports whether a status code is that of a page which may go away.
func mayBePage(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusTooManyRequests:
		return false
	}
	return code >= 300 && code <= 499
}

func outcomeOf(resp *http.Response, hasRetryAfter, keyed bool) Outcome {
	switch code := resp.StatusCode; {
	case isSuccess(resp):
		return Succeeded
	case code == http.StatusTooManyRequests, code == http.StatusTooEarly, code == http.StatusMisdirectedRequest,
		code == http.StatusServiceUnavailable && hasRetryAfter,
		code == http.StatusConflict && hasRetryAfter && keyed: // a request with the same key is in flight
		return Busy
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported:
		return Refused
	case code >= 500, code == http.StatusRequestTimeout:
		return Failed
	}
	return Refused
}

// mayRetry reports whether another attempt is allowed, and sets the wait before
// it: retryAfter, or if that is 0 a random time that grows. If there was no response to
// this call or to another one meanwhile, and none is allowed, an outage begins.
func (c *Call) mayRetry(ctx context.Context, retryAfter time.Duration) bool {
	hooks, noResponse := c.t.Hooks, c.Last.Status == 0
	if ctx.Err() != nil || c.embeddedFailed() || noResponse && c.t.outage.isOngoing() && !c.isLookup || c.isErrorPage() && c.pages > pageRetries {
		return false
	}
	if c.Last.Status == http.StatusTooManyRequests && retryAfter > 0 {
		c.limited++ // the API has not processed it, and has said when it will
	}
	if c.Last.notSent && c.unsent < maxUnsent {
		c.unsent++ // only the time limits how long it waits for a server that restarts
	}
	if c.Attempts-c.limited-c.unsent <= hooks.RetryMax {
		if retryAfter > 0 {
			// Clients that got the same time should not come back at the same moment.
			c.wait = retryAfter + hooks.Jitter(hooks.RetryWaitMin)
		} else {
			c.wait = c.backoff()
		}
		next := hooks.Now().Add(c.wait)
		if deadline, ok := ctx.Deadline(); ok && next.After(deadline) {
			return false
		}
		if !next.After(c.end()) {
			return true
		}
	}
	if noResponse && !c.t.hasResponded(c.Last.started) {
		c.t.outage.begin(hooks.Now(), c.Last.cause)
	}
	return false
}

// embeddedFailed reports whether the latest response is a failure of an API in this process.
func (c *Call) embeddedFailed() bool { return c.t.embedded && c.Last.Status >= 500 }

// hasResponded reports whether there was a response after some time.
func (t *Transport) hasResponded(after time.Time) bool {
	responded := t.responded.Load()
	return responded != nil && responded.After(after)
}

// backoff returns a random wait before the next attempt. At least half of it is certain, so
// that a call does not use up its attempts within seconds.
func (c *Call) backoff() time.Duration {
	half := c.ceiling() / 2
	return half + c.t.Hooks.Jitter(half)
}

// ceiling returns the longest wait before the next attempt: it doubles up to
// RetryWaitMax.
func (c *Call) ceiling() time.Duration {
	d := c.t.Hooks.RetryWaitMin
	for i := 1; i < c.Attempts && d < c.t.Hooks.RetryWaitMax; i++ {
		d *= 2
	}
	return min(d, c.t.Hooks.RetryWaitMax)
}

// end returns the time until which a call begins new attempts.
func (c *Call) end() time.Time {
	begun, budget := c.Started.Add(c.queued), c.t.Hooks.RetryBudget
	switch {
	case c.Last.Status != 0:
	case c.Last.notSent && !c.t.Reached.Load():
		budget = min(budget, firstContact)
	case !c.Last.notSent && c.spec.Method == http.MethodGet:
		patience := readPatience
		if c.t.hasResponded(c.Started) {
			patience = max(patience, c.t.responded.Load().Sub(begun)+besidePatience)
		}
		if c.isLookup {
			patience = max(patience, lookupPatience)
		}
		budget = min(budget, patience)
	}
	return begun.Add(budget)
}

// maxRetryAfter keeps calculations with a server's Retry-After from overflowing.
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
		if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			now = date // by the clock that the time is of
		}
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// AwaitRetry waits for the time of another attempt, and reports whether one is
// allowed: the latest one was not refused, and neither the retry policy nor the caller has
// ended the call.
func (c *Call) AwaitRetry(ctx context.Context) bool {
	return c.Last.Outcome.In(Unknown|Succeeded) && c.mayRetry(ctx, 0) && c.t.Hooks.Sleep(ctx, c.wait) == nil
}

// Pause waits as long as before another attempt.
func (c *Call) Pause(ctx context.Context) error {
	return c.t.Hooks.Sleep(ctx, c.backoff())
}
