package transport

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-cleanhttp"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

const (
	defaultUserAgent = "terraform-provider-mailhost"
	idlePerHost      = 32
	dialTimeout      = 10 * time.Second
	pingTimeout      = 10 * time.Second // of HTTP/2
)

// Options configure a Transport.
type Options struct {
	BaseURL   string // absolute URL of the API, without the paths of the contract
	AccountID string // the account of every operation
	// Token is a bearer token. TokenSource takes precedence. Without both, Transport authenticates the requests.
	Token             string
	TokenSource       oauth2.TokenSource
	Secrets           []string          // TokenSource's own credentials; no message quotes them
	Advise            Advise            // nil: no advice
	Transport         http.RoundTripper // sends single requests; nil: over the network
	Embedded          bool              // the API runs in this process; its failures are not retried
	UserAgent         string
	RequestsPerMinute int     // 0: no limit
	Log               LogFunc // nil: no log
	Hooks             Hooks
}

// LogFunc writes a line about one attempt. tflog.Debug is one.
type LogFunc func(ctx context.Context, msg string, fields ...map[string]any)

// Advise returns the user's next step if the API refuses the credential with a 401, or the request with a 403
// although token, or if status is 0 and TokenSource returns no token. It may return "".
type Advise func(status int, token string) string

// Hooks replace time, randomness and limits in tests. Zero fields have defaults.
type Hooks struct {
	Now func() time.Time
	// Sleep waits for d, or returns ctx's error if ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter returns a random duration between 0 and ceiling.
	Jitter func(ceiling time.Duration) time.Duration
	// NewID returns a new UUID, for an Idempotency-Key or a request id.
	NewID func() string

	// RetryMax limits the attempts after the first one, not counting those that are Busy or NotSent;
	// negative: no retry.
	RetryMax int
	// Parallel is the number of requests of one call in flight at once.
	Parallel int
}

func (h Hooks) withDefaults() Hooks {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Sleep == nil {
		h.Sleep = sleep
	}
	if h.Jitter == nil {
		h.Jitter = func(ceiling time.Duration) time.Duration { return rand.N(ceiling + 1) }
	}
	if h.NewID == nil {
		h.NewID = uuid.NewString
	}
	h.RetryMax = cmp.Or(h.RetryMax, 8)
	h.Parallel = cmp.Or(h.Parallel, 8)
	return h
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Transport sends requests to one account of the API. It is safe for concurrent use.
type Transport struct {
	Options // with defaults

	Confirmed   atomic.Bool // a response matched the contract, so the base URL is right
	HonoursKeys atomic.Bool // the API sent the header Idempotency-Replayed
	Changed     atomic.Bool // a request that may change something was sent

	tokens    oauth2.TokenSource // nil: no credential
	rate      *rate.Limiter      // nil: no limit
	outage    outage
	incidents incidents
	// clockOffset comes from the Date of the newest response, which is up to a second early.
	clockOffset atomic.Pointer[time.Duration]
}

// New returns a Transport. It sends nothing yet.
func New(o Options) *Transport {
	t := &Transport{Options: o}
	t.Hooks = o.Hooks.withDefaults()
	t.BaseURL = strings.TrimRight(o.BaseURL, "/")
	t.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	if t.Transport == nil {
		t.Transport = overNetwork()
	}
	if o.RequestsPerMinute > 0 {
		t.rate = rate.NewLimiter(rate.Every(time.Minute/time.Duration(o.RequestsPerMinute)), 1)
	}
	switch {
	case o.TokenSource != nil:
		t.tokens = oauth2.ReuseTokenSource(nil, o.TokenSource)
	case o.Token != "":
		t.tokens = oauth2.StaticTokenSource(&oauth2.Token{AccessToken: o.Token})
	}
	return t
}

// ClockOffset returns how far the API's clock is ahead of this machine's. known is false before the first response.
func (t *Transport) ClockOffset() (offset time.Duration, known bool) {
	if d := t.clockOffset.Load(); d != nil {
		return *d, true
	}
	return 0, false
}

func overNetwork() *http.Transport {
	t := cleanhttp.DefaultPooledTransport()
	t.MaxIdleConnsPerHost = idlePerHost
	// Without pings, attempts would use a dead connection for minutes.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingTimeout, PingTimeout: pingTimeout, WriteByteTimeout: 2 * pingTimeout}
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	return t
}
