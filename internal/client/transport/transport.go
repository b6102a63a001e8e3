package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-cleanhttp"
	"golang.org/x/oauth2"
)

// Defaults of Options.
const (
	defaultUserAgent = "terraform-provider-mailhost"
	defaultRetryMax  = 8
	defaultWaitMin   = 500 * time.Millisecond
	defaultWaitMax   = 20 * time.Second
	defaultBudget    = 5 * time.Minute
	idlePerHost      = 32
	// dialTimeout limits the time until a connection is made.
	dialTimeout = 10 * time.Second
	// defaultReadTimeout limits the time from the start of a GET to the header of
	// its response, and the time between two parts of any response's body.
	defaultReadTimeout = 30 * time.Second
)

// LogFunc writes one log line. It has the type of tflog.Debug.
type LogFunc func(ctx context.Context, msg string, fields ...map[string]any)

// Options configure a Transport.
type Options struct {
	// BaseURL is the address of the API, without the part that the contract sets.
	// With a RoundTripper that needs no network it is a placeholder.
	BaseURL string
	// AccountID is the account that every operation works on.
	AccountID string
	// Token is a bearer token; TokenSource, if set, has precedence. With neither,
	// no credential is sent: the RoundTripper is trusted.
	Token       string
	TokenSource oauth2.TokenSource
	// Transport sends single requests; nil: over the network, with a pool of
	// connections.
	Transport http.RoundTripper
	UserAgent string

	// RetryMax is the number of attempts after the first; 0: 8, negative: none.
	RetryMax int
	// RetryWaitMin and RetryWaitMax limit the ceiling of the random wait between
	// two attempts; 0: 500 ms and 20 s.
	RetryWaitMin, RetryWaitMax time.Duration
	// RetryBudget limits the time in which one call begins new attempts; 0: 5
	// minutes. A Retry-After that exceeds it ends the call at once.
	RetryBudget time.Duration
	// ReadTimeout limits the wait for the response to a GET, and for the next part
	// of any response's body; 0: 30 seconds.
	ReadTimeout time.Duration

	// Log, if set, gets a line for each attempt.
	Log   LogFunc
	Hooks Hooks
}

// retryPolicy limits the attempts of a call.
type retryPolicy struct {
	max              int // attempts after the first
	waitMin, waitMax time.Duration
	budget           time.Duration
}

// ceiling returns the longest wait after a number of attempts: it doubles up to
// waitMax.
func (p retryPolicy) ceiling(attempts int) time.Duration {
	d := p.waitMin
	for range attempts - 1 {
		if d >= p.waitMax {
			break
		}
		d *= 2
	}
	return min(d, p.waitMax)
}

// Transport sends requests to one account of the API. It is safe for concurrent
// use.
type Transport struct {
	baseURL   string
	accountID string
	token     string // Options.Token
	userAgent string
	next      http.RoundTripper
	tokens    oauth2.TokenSource
	timeout   time.Duration // Options.ReadTimeout
	log       LogFunc
	hooks     Hooks

	retry       retryPolicy
	outage      outage
	incidents   incidents
	serverClock serverClock
	reached     atomic.Bool // some server has responded
	confirmed   atomic.Bool // the API has sent a response of the contract
	honoursKeys atomic.Bool
}

// New returns a Transport. It sends nothing yet.
func New(o Options) (*Transport, error) {
	base, err := checkBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if o.AccountID == "" {
		return nil, errors.New("the account id is missing")
	}
	t := &Transport{
		baseURL:   base,
		accountID: o.AccountID,
		token:     o.Token,
		userAgent: cmp.Or(o.UserAgent, defaultUserAgent),
		next:      roundTripper(o),
		tokens:    tokenSource(o),
		timeout:   cmp.Or(o.ReadTimeout, defaultReadTimeout),
		log:       o.Log,
		hooks:     o.Hooks.withDefaults(),
		retry: retryPolicy{
			max:     max(cmp.Or(o.RetryMax, defaultRetryMax), 0),
			waitMin: cmp.Or(o.RetryWaitMin, defaultWaitMin),
			waitMax: cmp.Or(o.RetryWaitMax, defaultWaitMax),
			budget:  cmp.Or(o.RetryBudget, defaultBudget),
		},
	}
	if o.TokenSource != nil {
		t.token = ""
	}
	return t, nil
}

// AccountID returns the account that the requests are sent for.
func (t *Transport) AccountID() string { return t.accountID }

// HasToken reports whether the requests carry a token that begins with prefix. It
// is false for a TokenSource.
func (t *Transport) HasToken(prefix string) bool { return strings.HasPrefix(t.token, prefix) }

// Hooks returns the clock and the randomness, with defaults.
func (t *Transport) Hooks() Hooks { return t.hooks }

// Reached reports whether there was a response, from whatever server.
func (t *Transport) Reached() bool { return t.reached.Load() }

// Confirmed reports whether the API has sent a response of the contract, so that
// the base URL is right.
func (t *Transport) Confirmed() bool { return t.confirmed.Load() }

// HonoursKeys reports whether the API has proved that it honours Idempotency-Keys,
// by an Idempotency-Replayed header in some response.
func (t *Transport) HonoursKeys() bool { return t.honoursKeys.Load() }

// ClockOffset returns how far the API's clock is ahead of this machine's, and
// false if no response had a Date.
func (t *Transport) ClockOffset() (offset time.Duration, known bool) {
	if d := t.serverClock.offset.Load(); d != nil {
		return *d, true
	}
	return 0, false
}

func checkBaseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The parser's error quotes its input, which may have a password.
		return "", errors.New("the base URL is malformed; expected for instance https://api.example.com")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("the base URL must be an absolute http or https URL, for instance https://api.example.com")
	case u.User != nil:
		return "", errors.New("the base URL must not hold a user name or password; the credential is the token")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the base URL must end with its path: %s has a query or a fragment", u.Redacted())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func roundTripper(o Options) http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	t := cleanhttp.DefaultPooledTransport()
	t.MaxIdleConnsPerHost = idlePerHost
	t.ResponseHeaderTimeout = writeTimeout
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	return t
}

func tokenSource(o Options) oauth2.TokenSource {
	switch {
	case o.TokenSource != nil:
		return oauth2.ReuseTokenSource(nil, o.TokenSource)
	case o.Token != "":
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.Token})
	}
	return nil
}
