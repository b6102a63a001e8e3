// Package ratelimit counts requests in token buckets, one for each key. The buckets are in
// the store, so that a limit holds for all processes that share it.
//
// TakeStored takes a token in the transaction of what the limit is for. For requests, which
// need not write anything, a Limiter takes a block of tokens at a time, its lease, and
// counts requests against it in memory:
//
//	lease renewed   when its tokens are used, or it is a tenth of Limit.Per old
//	unused tokens   are returned with the renewal
//	empty bucket    is not read again until it has a token
//	process ends    its unused tokens are lost; the bucket refills them like used ones
//	store fails     the process counts alone, from what it knows of the bucket
//
// A block is a fiftieth of Limit.Requests, at least one token. Each process may hold a
// block when the bucket is empty or, at most for the time of a lease, when it is full: with
// three processes, up to 6 percent of the requests are allowed too late or too early.
package ratelimit

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Limit is the size of a token bucket: up to Requests at once, and as many again in
// each Per. The zero value is no limit.
type Limit struct {
	Requests int
	Per      time.Duration
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

// TakeStored takes a request out of a bucket in the store.
func (l Limit) TakeStored(tx store.TokenBucketWriter, bucket string, now time.Time) (u Usage, err error) {
	err = tx.UpdateTokenBucket(bucket, now, func(fullAt time.Time) (time.Time, error) {
		taken, fullAt := l.take(fullAt, now, 1)
		u = l.usage(taken == 1, fullAt, now, 0)
		return fullAt, nil
	})
	return u, err
}

// take takes up to n tokens out of a bucket that is full at a time, and returns how many it
// took and when the bucket is full then.
func (l Limit) take(fullAt, now time.Time, n int) (taken int, _ time.Time) {
	missing := l.missing(fullAt, now)
	taken = min(n, int(l.tokens(l.Per-missing)))
	return taken, now.Add(missing + l.refill(taken))
}

// missing returns how long a bucket takes to be full: at most as if it were empty, even if the
// clock went back.
func (l Limit) missing(fullAt, now time.Time) time.Duration {
	return min(max(fullAt.Sub(now), 0), l.Per)
}

// tokens returns how many tokens are refilled in a time. It adds less than what a
// microsecond, the precision of the store, refills.
func (l Limit) tokens(d time.Duration) float64 {
	return d.Seconds()*float64(l.Requests)/l.Per.Seconds() + 1e-6
}

// refill returns how long it takes to refill some tokens.
func (l Limit) refill(tokens int) time.Duration {
	return time.Duration(float64(l.Per) * float64(tokens) / float64(l.Requests))
}

// usage returns the state of a bucket that is full at a time, of which a process holds some
// tokens.
func (l Limit) usage(allowed bool, fullAt, now time.Time, held int) Usage {
	missing := max(0, l.missing(fullAt, now)-l.refill(held))
	return Usage{
		Allowed:   allowed,
		Remaining: int(l.tokens(l.Per - missing)),
		Reset:     seconds(missing),
		Wait:      max(1, seconds(missing+l.refill(1)-l.Per)),
	}
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds() - 1e-6)) }

// Limiter limits requests by key. It is safe for concurrent use.
type Limiter struct {
	Limit
	store  store.Store
	mu     sync.Mutex
	leases map[string]*lease
	// evictAt is the number of leases at which those of full buckets are deleted, because a
	// new one would be the same.
	evictAt int
}

const (
	firstEvictAt   = 1024
	blocks         = 50 // of tokens in a full bucket
	leasesInPeriod = 10
)

// New returns a Limiter with buckets in s.
func New(limit Limit, s store.Store) *Limiter {
	return &Limiter{Limit: limit, store: s, leases: map[string]*lease{}, evictAt: firstEvictAt}
}

// lease is the part of a bucket that this process holds.
type lease struct {
	mu sync.Mutex
	// tokens are held and not used. From takenAt to renewAt the bucket is not read.
	tokens           int
	takenAt, renewAt time.Time
	// fullAt is when the bucket is full again if all tokens are used.
	fullAt time.Time
}

// Take takes a request out of a key's bucket.
func (l *Limiter) Take(ctx context.Context, key string, now time.Time) Usage {
	return l.takeLeased(key, now, func(change func(time.Time) (time.Time, error)) error {
		// The lease is for other requests too, which don't end with this one.
		return l.store.Update(context.WithoutCancel(ctx), func(tx store.Tx) error {
			return tx.UpdateTokenBucket("requests "+key, now, change)
		})
	})
}

// TakeLocally is Take from a bucket that only this process has, without access to the store.
func (l *Limiter) TakeLocally(key string, now time.Time) Usage {
	return l.takeLeased(key, now, nil)
}

// takeLeased takes a request out of a key's lease. update changes the bucket in the store;
// nil: there is none.
func (l *Limiter) takeLeased(key string, now time.Time, update func(change func(time.Time) (time.Time, error)) error) Usage {
	e := l.lease(key, now)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !now.Before(e.renewAt) || now.Before(e.takenAt) { // or the clock went back
		l.renew(e, now, update)
	}
	allowed := e.tokens > 0
	if allowed {
		if e.tokens--; e.tokens == 0 {
			e.renewAt = now
		}
	}
	return l.usage(allowed, e.fullAt, now, e.tokens)
}

// renew returns the tokens of a lease and takes new ones.
func (l *Limiter) renew(e *lease, now time.Time, update func(change func(time.Time) (time.Time, error)) error) {
	var tokens int
	var fullAt time.Time
	change := func(at time.Time) (time.Time, error) {
		at = now.Add(l.missing(at, now) - l.refill(e.tokens))
		tokens, fullAt = l.take(at, now, max(1, l.Requests/blocks))
		return fullAt, nil
	}
	if update == nil || update(change) != nil {
		_, _ = change(e.fullAt)
	}
	e.tokens, e.fullAt, e.takenAt, e.renewAt = tokens, fullAt, now, now.Add(l.Per/leasesInPeriod)
	if tokens == 0 {
		e.renewAt = fullAt.Add(l.refill(1) - l.Per)
	}
}

// Reset forgets the leases, after the buckets in the store were deleted. A nil Limiter has
// none.
func (l *Limiter) Reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.leases)
}

func (l *Limiter) lease(key string, now time.Time) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.leases[key]
	if e == nil {
		if len(l.leases) >= l.evictAt {
			l.evictFull(now)
		}
		e = new(lease)
		l.leases[key] = e
	}
	return e
}

// evictFull deletes the leases that nobody uses now and whose buckets have refilled their
// tokens.
func (l *Limiter) evictFull(now time.Time) {
	for key, e := range l.leases {
		if e.mu.TryLock() {
			if !now.Before(e.fullAt) {
				delete(l.leases, key)
			}
			e.mu.Unlock()
		}
	}
	l.evictAt = max(firstEvictAt, 2*len(l.leases))
}
