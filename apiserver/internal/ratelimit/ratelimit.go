// Package ratelimit counts requests in token buckets, one per key, in the memory of one process
// (Limiter) or in the store for all processes (TakeStored).
package ratelimit

import (
	"maps"
	"math"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Limit is a token bucket: up to Requests at once, and again as many in each Per. The zero value is
// no limit.
type Limit struct {
	Requests int
	Per      time.Duration
}

// Usage is the state of a bucket after a request.
type Usage struct {
	Allowed   bool
	Remaining int
	// Reset is the number of seconds until the bucket is full.
	Reset int
	// Wait is the number of seconds until the next request is allowed, at least 1.
	Wait int
}

// TakeStored takes a request from a bucket in the store, in the transaction of the request. A bucket that is not
// full after Per was written by a server whose clock was ahead, and counts as full: a refused request writes
// nothing, so that the bucket would stay as it is.
func (l Limit) TakeStored(tx store.Tx, bucket string, now time.Time) (u Usage, err error) {
	err = tx.UpdateTokenBucket(bucket, now, func(fullAt time.Time) time.Time {
		if fullAt.After(now.Add(l.Per + store.ClockTolerance)) {
			fullAt = now
		}
		u, fullAt = l.take(fullAt, now)
		return fullAt
	})
	return u, err
}

// take takes a request from a bucket, and returns when the bucket is full again: after at most Per,
// even if the clock went back.
func (l Limit) take(fullAt, now time.Time) (Usage, time.Time) {
	// Rounding errors below the store's precision, a microsecond, must not matter.
	const rounding = time.Microsecond
	token := l.Per / time.Duration(l.Requests)
	missing := min(max(fullAt.Sub(now), 0), l.Per)
	allowed := missing+token <= l.Per+rounding
	if allowed {
		missing += token
	}
	return Usage{
		Allowed:   allowed,
		Remaining: int(max(0, l.Per+rounding-missing) / token),
		Reset:     seconds(missing - rounding),
		Wait:      max(1, seconds(missing+token-l.Per-rounding)),
	}, now.Add(missing)
}

// seconds returns d in seconds, rounded up.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// Limiter limits the requests to this process by key. It is safe for concurrent use.
type Limiter struct {
	Limit
	mu     sync.Mutex
	fullAt map[string]time.Time
	// evictAt is the number of buckets at which full buckets are deleted.
	evictAt int
}

const firstEvictAt = 1024

// New returns a Limiter with full buckets.
func New(limit Limit) *Limiter {
	return &Limiter{Limit: limit, fullAt: map[string]time.Time{}, evictAt: firstEvictAt}
}

// Take takes a request from a key's bucket.
func (l *Limiter) Take(key string, now time.Time) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.fullAt) >= l.evictAt {
		maps.DeleteFunc(l.fullAt, func(_ string, at time.Time) bool { return !now.Before(at) })
		l.evictAt = max(firstEvictAt, 2*len(l.fullAt))
	}
	u, fullAt := l.take(l.fullAt[key], now)
	l.fullAt[key] = fullAt
	return u
}

// Return puts a taken request back into a key's bucket.
func (l *Limiter) Return(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if fullAt, ok := l.fullAt[key]; ok {
		l.fullAt[key] = fullAt.Add(-l.Per / time.Duration(l.Requests))
	}
}

// Reset fills every bucket. A nil Limiter does nothing.
func (l *Limiter) Reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.fullAt)
}
