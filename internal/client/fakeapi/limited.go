package fakeapi

import (
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limited is an http.RoundTripper with a rate limit and a latency. Use it in a synctest
// bubble, because it sleeps.
type Limited struct {
	Next     http.RoundTripper // nil: every response is an object with an id
	Limit    int               // requests in Per; 0: any number
	Per      time.Duration
	IsWindow bool // a fixed window, and otherwise a token bucket
	IsUsedUp bool // at the first request, by others
	Latency  time.Duration
	// Headers returns the headers of every response. Nil: the three RateLimit headers.
	Headers func(limit, remaining, reset int) http.Header

	mu       sync.Mutex
	tokens   float64
	at       time.Time // of tokens, or when the window began
	inFlight int

	Times   []time.Time // of the requests
	Refused int
	Most    int // requests in flight
}

// RoundTrip implements http.RoundTripper.
func (a *Limited) RoundTrip(r *http.Request) (*http.Response, error) {
	a.enter(1)
	defer a.enter(-1)
	time.Sleep(a.Latency / 2)
	refused, header := a.take(time.Now())
	defer time.Sleep(a.Latency / 2)
	status, body := http.StatusOK, `{"id":"x"}`
	if refused {
		status, body = http.StatusTooManyRequests, ""
	} else if a.Next != nil {
		resp, err := a.Next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		maps.Copy(resp.Header, header)
		return resp, nil
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (a *Limited) enter(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight += n
	a.Most = max(a.Most, a.inFlight)
}

// take counts a request, and returns the headers of its response.
func (a *Limited) take(now time.Time) (refused bool, header http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Times = append(a.Times, now)
	if a.Limit == 0 {
		return false, http.Header{}
	}
	perSecond := float64(a.Limit) / a.Per.Seconds()
	switch {
	case a.at.IsZero(), a.IsWindow && now.Sub(a.at) >= a.Per:
		a.tokens, a.at = float64(a.Limit), now
		if a.IsUsedUp {
			a.tokens, a.IsUsedUp = 0, false
		}
	case !a.IsWindow:
		a.tokens, a.at = min(float64(a.Limit), a.tokens+now.Sub(a.at).Seconds()*perSecond), now
	}
	const rounding = 1e-9
	if refused = a.tokens < 1-rounding; !refused {
		a.tokens--
	}
	wait, reset := (1-a.tokens)/perSecond, (float64(a.Limit)-a.tokens)/perSecond
	if a.IsWindow {
		wait = a.at.Add(a.Per).Sub(now).Seconds()
		reset = wait
	}
	headers := a.Headers
	if headers == nil {
		headers = rateLimit
	}
	header = headers(a.Limit, int(a.tokens+rounding), int(math.Ceil(reset-rounding)))
	if refused {
		a.Refused++
		header.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait-rounding)))))
	}
	return refused, header
}

func rateLimit(limit, remaining, reset int) http.Header {
	h := http.Header{}
	h.Set("RateLimit-Limit", strconv.Itoa(limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(reset))
	return h
}
