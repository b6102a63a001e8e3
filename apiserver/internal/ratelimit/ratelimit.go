// Package ratelimit counts requests in token buckets, one for each key.
package ratelimit

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limit is the size of a token bucket: up to Requests at once, and as many again in
// each Per. The zero value is no limit.
type Limit struct {
	Requests int
	Per      time.Duration
}

// Limiter holds the buckets. It is safe for concurrent use.
type Limiter struct {
	Limit
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	// evictAt is the number of buckets at which the full ones are deleted, because a
	// new one would be the same.
	evictAt int
}

const firstEvictAt = 1024

// New returns a Limiter whose buckets are all full.
func New(limit Limit) *Limiter {
	return &Limiter{Limit: limit, buckets: map[string]*rate.Limiter{}, evictAt: firstEvictAt}
}

// Usage is the state of a bucket after a request.
type Usage struct {
	Allowed   bool
	Remaining int
	// Reset is in how many seconds the bucket is full again.
	Reset int
	// Wait is in how many seconds the next request is allowed; at least 1.
	Wait int
}

// Take takes a request out of a key's bucket.
func (l *Limiter) Take(key string, now time.Time) Usage {
	b := l.bucket(key, now)
	allowed := b.AllowN(now, 1)
	left := b.TokensAt(now)
	return Usage{
		Allowed: allowed, Remaining: int(max(0, left)),
		Reset: l.seconds(float64(l.Requests) - max(0, left)), Wait: max(1, l.seconds(1-left)),
	}
}

// Reset fills every bucket. A nil Limiter has none.
func (l *Limiter) Reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.buckets)
}

func (l *Limiter) bucket(key string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= l.evictAt {
			l.evictFull(now)
		}
		b = rate.NewLimiter(rate.Limit(float64(l.Requests)/l.Per.Seconds()), l.Requests)
		l.buckets[key] = b
	}
	return b
}

func (l *Limiter) evictFull(now time.Time) {
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.Requests) {
			delete(l.buckets, key)
		}
	}
	l.evictAt = max(firstEvictAt, 2*len(l.buckets))
}

// seconds returns how long it takes until a bucket holds n more, rounded up.
func (l *Limiter) seconds(n float64) int {
	return int(math.Ceil(n*l.Per.Seconds()/float64(l.Requests) - 1e-9))
}
