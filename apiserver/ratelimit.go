package apiserver

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// RateLimit bounds how often one credential calls. It is a token bucket: up to
// Requests at once, and as many again in each Per. The zero value is no limit.
type RateLimit struct {
	Requests int
	Per      time.Duration
}

// The headers of every answer while a limit is set: the bucket's size, what is
// left in it, and in how many seconds it is full again.
const (
	rateLimitHeader          = "RateLimit-Limit"
	rateLimitRemainingHeader = "RateLimit-Remaining"
	rateLimitResetHeader     = "RateLimit-Reset"
)

// rateLimiter keeps the buckets. It is safe for concurrent use.
type rateLimiter struct {
	RateLimit
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	// tidyAt is how many buckets there may be before the full ones are forgotten:
	// they are as good as new ones.
	tidyAt int
}

const firstTidyAt = 1024

func newRateLimiter(limit RateLimit) *rateLimiter {
	return &rateLimiter{RateLimit: limit, buckets: map[string]*rate.Limiter{}, tidyAt: firstTidyAt}
}

func (l *rateLimiter) bucket(key string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= l.tidyAt {
			l.tidy(now)
		}
		b = rate.NewLimiter(rate.Limit(float64(l.Requests)/l.Per.Seconds()), l.Requests)
		l.buckets[key] = b
	}
	return b
}

// forget fills every bucket. A nil limiter has none.
func (l *rateLimiter) forget() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.buckets)
}

func (l *rateLimiter) tidy(now time.Time) {
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.Requests) {
			delete(l.buckets, key)
		}
	}
	l.tidyAt = max(firstTidyAt, 2*len(l.buckets))
}

// take takes a request out of the caller's bucket, writes its state into the
// headers, and returns the answer to a request that is one too many.
func (l *rateLimiter) take(key string, now time.Time, h http.Header) *api.Error {
	b := l.bucket(key, now)
	allowed := b.AllowN(now, 1)
	left := max(0, b.TokensAt(now))
	h.Set(rateLimitHeader, strconv.Itoa(l.Requests))
	h.Set(rateLimitRemainingHeader, strconv.Itoa(int(left)))
	h.Set(rateLimitResetHeader, strconv.Itoa(l.seconds(float64(l.Requests)-left)))
	if allowed {
		return nil
	}
	wait := max(1, l.seconds(1-left))
	return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
		"more than %d requests in %s; try again in %d s", l.Requests, l.Per, wait).RetryAfter(wait)
}

// spend takes one out of a bucket, or returns in how many seconds it holds one
// again.
func (l *rateLimiter) spend(key string, now time.Time) (wait int) {
	b := l.bucket(key, now)
	if b.AllowN(now, 1) {
		return 0
	}
	return max(1, l.seconds(1-b.TokensAt(now)))
}

// seconds is how long it takes until the bucket holds n more, rounded up.
func (l *rateLimiter) seconds(n float64) int {
	return int(math.Ceil(n*l.Per.Seconds()/float64(l.Requests) - 1e-9))
}

// limited takes a request out of the bucket of its credential. A request without
// a valid one counts for the address that it comes from. Health checks are free,
// and so are the pages that people open: behind a proxy everybody has its address.
func (s *Service) limited(w http.ResponseWriter, r *http.Request) *api.Error {
	if p := progressOf(r.Context()); s.limiter == nil || p.Operation.ID == "" && p.Route != "" {
		return nil
	}
	key := "address " + network(r.RemoteAddr)
	if who, err := s.presentedCaller(r.Context(), r.Header.Values("Authorization")); err == nil {
		key = who.credential()
	}
	return s.limiter.take(key, s.now(), w.Header())
}

// network is the part of an address that one customer has: all of an IPv4
// address, and the first half of an IPv6 address (RFC 6177).
func network(remoteAddr string) string {
	a, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	address := a.Addr().Unmap()
	if address.Is6() {
		if p, err := address.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return address.String()
}
