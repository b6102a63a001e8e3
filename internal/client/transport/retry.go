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

// Limits of a call.
const (
	retryBudget = 5 * time.Minute // for new attempts
	// firstContact is the budget for a server that has never responded: base_url is probably
	// wrong, but the server may also just be starting.
	firstContact = 10 * time.Second
	// readPatience is the budget for a GET that was sent and gets no response.
	readPatience = time.Minute
	// pageRetries limits the retries after a page, because the server that sends it may never stop.
	pageRetries = 3

	waitMin, waitMax = 500 * time.Millisecond, 20 * time.Second // ceilings of the wait before a retry
)

// sendUntilDone makes attempts until evaluate ends the call. It uses go-retryablehttp's loop but not its
// policy, which would resend a create of unknown outcome.
func (c *Call) sendUntilDone(ctx context.Context) (*http.Response, error) {
	target := c.t.BaseURL + c.request.Path
	if query := c.request.Query.Encode(); query != "" {
		target += "?" + query
	}
	var body any // an untyped nil without a body, as retryablehttp requires
	if c.request.Body != nil {
		body = c.request.Body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, c.spec.Method, target, body)
	if err != nil {
		return nil, errors.New("the request's URL is malformed")
	}
	loop := &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: roundTripperFunc(c.attempt),
			// Following a redirect would send the request, and the credential, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt32, // mayRetry limits the attempts, also over several rounds
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			return c.evaluate(ctx, resp, withoutURL(err)), nil
		},
		// PrepareRetry waits instead, where a test can replace the wait.
		Backoff: func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: func(*http.Request) error {
			if err := c.t.Hooks.Sleep(ctx, c.wait); err != nil {
				return err
			}
			return c.awaitRate(ctx)
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := loop.Do(req)
	return resp, withoutURL(err)
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withoutURL returns the cause of an http.Client error, without its URL.
func withoutURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// evaluate sets the outcome of the latest attempt and reports whether to resend the request. After a
// keyed request with unknown outcome, the caller first looks for its effect.
func (c *Call) evaluate(ctx context.Context, resp *http.Response, err error) (resend bool) {
	now := c.t.Hooks.Now()
	wait, hasWait := retryAfter(resp, now)
	if resp == nil {
		c.Last.Outcome, c.Last.cause = c.outcomeWithout(err), c.secrets.redactError(err)
	} else {
		if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			c.t.clockOffset.Store(new(date.Sub(now)))
		}
		c.t.outage.end(now)
		c.Last.Outcome = c.outcomeOf(resp, hasWait)
	}
	if !c.Last.Outcome.In(Busy | NotSent) { // only the budget limits the retries of the others
		c.counted++
	}
	unknown := c.Last.Outcome.In(Unknown)
	c.AnyUnknown = c.AnyUnknown || unknown
	switch {
	case ctx.Err() != nil, c.Last.Outcome.In(Succeeded | Refused), c.embeddedFailed(), c.pages > pageRetries,
		unknown && c.spec.Keyed():
		return false
	case c.t.outage.isOngoing() && !c.isLookup():
		c.t.outage.begin(c.Last.started, now, c.Last.cause) // the outage continues
		return false
	}
	return c.mayRetry(ctx, wait)
}

// outcomeWithout returns the outcome of an attempt without a response.
func (c *Call) outcomeWithout(err error) Outcome {
	switch {
	case c.Last.notSent && isPermanent(err):
		return Refused
	case c.Last.notSent:
		return NotSent
	case errors.Is(err, errResponseTooLarge) && !c.spec.Keyed(), errors.Is(err, ErrTLSOnly):
		return Refused
	}
	return NoResponse
}

// outcomeOf maps a response to the outcome of its attempt, as in the table of the package comment.
func (c *Call) outcomeOf(resp *http.Response, hasRetryAfter bool) Outcome {
	code, isPage := resp.StatusCode, c.isPage(resp)
	if isPage {
		c.pages++
	}
	switch {
	case isSuccess(resp) && (isPage || c.isDamaged()):
		return NoResponse
	case isSuccess(resp):
		return Succeeded
	case isPage:
		return Failed
	case code == http.StatusTooManyRequests, code == http.StatusTooEarly, code == http.StatusMisdirectedRequest,
		code == http.StatusServiceUnavailable && hasRetryAfter,
		code == http.StatusConflict && hasRetryAfter && c.spec.Keyed(): // a request with the same key is in flight
		return Busy
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported:
		return Refused
	case code >= 500, code == http.StatusRequestTimeout:
		return Failed
	}
	return Refused
}

// mayRetry reports whether another attempt is allowed, and sets the wait before it: retryAfter, or a random
// time that grows if retryAfter is 0. If no attempt got a response, the end of the call begins an outage.
func (c *Call) mayRetry(ctx context.Context, retryAfter time.Duration) bool {
	if c.counted <= c.t.Hooks.RetryMax {
		if c.wait = c.backoff(); retryAfter > 0 {
			// Clients with the same Retry-After should not return at the same moment.
			c.wait = retryAfter + c.t.Hooks.Jitter(waitMin)
		}
		next := c.t.Hooks.Now().Add(c.wait)
		if deadline, ok := ctx.Deadline(); ok && next.After(deadline) {
			return false
		}
		if !next.After(c.Started.Add(c.budget())) {
			return true
		}
	}
	c.t.outage.begin(c.Last.started, c.t.Hooks.Now(), c.Last.cause)
	return false
}

// embeddedFailed reports whether the API in this process responded with a failure.
func (c *Call) embeddedFailed() bool { return c.t.Embedded && c.Last.status >= 500 }

// backoff returns a random wait before the next attempt, below a ceiling that doubles. The wait is at
// least half the ceiling, so that a call does not use up its attempts within seconds.
func (c *Call) backoff() time.Duration {
	half := min(waitMin<<min(max(c.Attempts-1, 0), 6), waitMax) / 2
	return half + c.t.Hooks.Jitter(half)
}

// budget returns the time from the first attempt in which a call may begin others.
func (c *Call) budget() time.Duration {
	switch {
	case c.Last.status != 0:
	case c.Last.notSent && !c.t.Reached():
		return firstContact
	case !c.Last.notSent && c.spec.Method == http.MethodGet && !c.isLookup():
		return readPatience
	}
	return retryBudget
}

// maxRetryAfter keeps calculations with a server's Retry-After from overflowing.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter parses the header as seconds or as a date.
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
			now = date // the server's clock, which the date refers to
		}
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// AwaitRetry waits before another attempt, and reports whether one is allowed.
func (c *Call) AwaitRetry(ctx context.Context) bool {
	return c.Last.Outcome.In(Unknown|Succeeded) && c.pages <= pageRetries &&
		c.mayRetry(ctx, 0) && c.t.Hooks.Sleep(ctx, c.wait) == nil
}

// Pause waits for the backoff time.
func (c *Call) Pause(ctx context.Context) error {
	return c.t.Hooks.Sleep(ctx, c.backoff())
}
