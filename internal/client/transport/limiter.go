package transport

import (
	"context"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Limits are limits of the requests of one Transport; 0 is none.
type Limits struct {
	RequestsPerMinute int // in any minute
	Concurrency       int // requests in flight
}

// limiter hands out a permit for each attempt. It learns the API's limit from the
// responses, and spaces the attempts so that they stay below it. The package comment
// describes how. Callers that wait are served in their order.
type limiter struct {
	hooks *Hooks
	log   LogFunc

	slots chan struct{} // one for each request in flight; nil: any number
	// turn is held by the caller that gets the next permit. Waiters of a channel are
	// served in their order.
	turn chan struct{}

	mu       sync.Mutex
	waiting  int // callers of await that did not get a permit at once
	inFlight map[*Permit]bool
	granted  int       // permits
	refused  int       // the latest permit when a 429 was last learned from
	latest   time.Time // when the latest permit was granted
	own      pace
	server   budget
	blocked  map[string]time.Time // until when, by blockKey; "" for all
	wake     func()               // ends the sleep of the caller that holds turn
	logged   bool
}

func newLimiter(limits Limits, hooks *Hooks, log LogFunc) *limiter {
	l := &limiter{
		hooks: hooks, log: log, turn: make(chan struct{}, 1), inFlight: map[*Permit]bool{},
		own: newPace(limits.RequestsPerMinute), blocked: map[string]time.Time{}, wake: func() {},
	}
	if limits.Concurrency > 0 {
		l.slots = make(chan struct{}, limits.Concurrency)
	}
	return l
}

// Permit allows one attempt.
type Permit struct {
	limiter *limiter
	number  int
	ended   int // permits that have ended since this one was granted
	used    atomic.Bool
}

// blockKey names the operations that a 429 stops if it is not about all: those with the same
// method on the same kind of object, such as a single create and a bulk create.
func blockKey(s api.Spec) string { return s.Method + " " + s.Tag }

// await waits for a permit for an attempt at an operation. Its only error is ctx's.
func (l *limiter) await(ctx context.Context, s api.Spec) (*Permit, error) {
	for wait := l.untilUnblocked(s); wait > 0; wait = l.untilUnblocked(s) {
		if err := l.hooks.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
	if p := l.try(s); p != nil {
		return p, nil
	}
	l.queue(1)
	defer l.queue(-1)
	if err := enter(ctx, l.slots); err != nil {
		return nil, err
	}
	if err := enter(ctx, l.turn); err != nil {
		leave(l.slots)
		return nil, err
	}
	defer leave(l.turn)
	for {
		woken, wake := context.WithCancel(ctx)
		p, wait := l.next(wake)
		if p == nil {
			l.announce(ctx, wait)
			_ = l.hooks.Sleep(woken, wait)
		}
		wake()
		switch {
		case p != nil:
			return p, nil
		case ctx.Err() != nil:
			leave(l.slots)
			return nil, ctx.Err()
		}
	}
}

// try returns a permit if there is one without waiting, and otherwise nil.
func (l *limiter) try(s api.Spec) *Permit {
	if l.untilUnblocked(s) > 0 || !tryEnter(l.slots) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == 0 {
		if p, _ := l.grant(); p != nil {
			return p
		}
	}
	leave(l.slots)
	return nil
}

func (l *limiter) queue(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
}

// next grants a permit, or returns how long to wait before the next call; wake is called
// if there is news before. The caller holds a slot and the turn.
func (l *limiter) next(wake func()) (*Permit, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake = wake
	return l.grant()
}

// grant returns a permit, or how long to wait for one. The caller holds a slot and mu.
func (l *limiter) grant() (*Permit, time.Duration) {
	now := l.hooks.Now()
	if at := later(l.own.next(), l.blocked[""], l.server.next(now, l.latest)); at.After(now) {
		return nil, at.Sub(now)
	}
	l.own.take(now)
	l.server.take(now)
	l.granted++
	l.latest = now
	p := &Permit{limiter: l, number: l.granted}
	l.inFlight[p] = true
	return p, 0
}

// announce logs the first wait for a rate limit.
func (l *limiter) announce(ctx context.Context, wait time.Duration) {
	l.mu.Lock()
	first, limit, remaining := !l.logged, l.server.limit, l.server.remaining
	l.logged = true
	l.mu.Unlock()
	if first && l.log != nil {
		l.log(ctx, "requests wait for the rate limit from here on", map[string]any{
			"wait_ms": wait.Milliseconds(), "api_limit": limit, "api_remaining": remaining, "max_requests_per_minute": l.own.perMinute,
		})
	}
}

func (l *limiter) untilUnblocked(s api.Spec) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocked[blockKey(s)].Sub(l.hooks.Now())
}

// interval returns about how long the API, or the Limits, need for one more request.
func (l *limiter) interval() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.own.interval, l.server.interval)
}

// Release ends a permit that no attempt has used.
func (p *Permit) Release() {
	if !p.used.Swap(true) {
		p.end(api.Spec{}, 0, nil)
	}
}

// end ends the attempt of a permit, and learns from its response; status is 0 without
// one.
func (p *Permit) end(s api.Spec, status int, header http.Header) {
	l := p.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inFlight, p)
	leave(l.slots)
	for other := range l.inFlight {
		other.ended++
	}
	now := l.hooks.Now()
	q, known := quotaOf(header, now)
	if known {
		// The API may have counted p before any attempt that was in flight with it.
		l.server.learn(q, len(l.inFlight)+p.ended, now)
	}
	if status == http.StatusTooManyRequests {
		wait, ok := retryAfter(&http.Response{Header: header}, now)
		key := blockKey(s)
		if isForAll := known && q.remaining == 0; isForAll {
			if key = ""; !ok {
				wait = q.reset
			}
			if p.number > l.refused {
				l.refused = l.granted // the others in flight are refused for the same reason
				l.server.refused(wait)
			}
		}
		l.block(key, now, wait)
	}
	l.wake()
}

// block stops the attempts of a blockKey after a 429 until its time. If that is longer than
// a call may last, the API's error is of more use than a wait.
func (l *limiter) block(key string, now time.Time, wait time.Duration) {
	if until := now.Add(wait); wait <= l.hooks.RetryBudget && until.After(l.blocked[key]) {
		l.blocked[key] = until
	}
}

// pace spaces requests so that any minute has at most perMinute of them.
type pace struct {
	perMinute int // 0: no limit
	interval  time.Duration
	burst     time.Duration // how far ahead of its interval a request may be
	due       time.Time     // of the next request, without the burst
}

func newPace(perMinute int) pace {
	if perMinute <= 0 {
		return pace{}
	}
	// A second's requests at once, or a few if that is less.
	atOnce := max(1, perMinute/60, min(5, perMinute/10))
	others := time.Duration(perMinute - atOnce + 1)
	interval := (time.Minute + others - 1) / others
	return pace{perMinute: perMinute, interval: interval, burst: time.Duration(atOnce-1) * interval}
}

func (p *pace) next() time.Time { return p.due.Add(-p.burst) }

func (p *pace) take(now time.Time) { p.due = later(p.due, now).Add(p.interval) }

// budget is what is known of the API's limit.
type budget struct {
	limit     int // 0: none is known
	remaining int // in the worst case
	seen      time.Time
	reset     time.Duration // from seen until all of the limit is available again
	interval  time.Duration // the shortest time per request that was seen
	// isWindow: nothing is available again before reset. Otherwise, in a token bucket,
	// there is one more request in each interval.
	isWindow bool
	// share is the part of remaining that this process may use. It becomes smaller when
	// others turn out to use the same limit.
	share float64
}

// reserve is how many requests are left when they begin to be spaced: half of a small limit,
// and 20 of a large one.
func (b *budget) reserve() int { return min(max(b.limit/8, min(b.limit/2, 5)), 20) }

// next returns the time of the next attempt. The latest one was at a time.
func (b *budget) next(now, latest time.Time) time.Time {
	from := later(b.seen, latest)
	switch reserve := b.reserve(); {
	case b.limit == 0, !now.Before(b.seen.Add(b.reset)):
		return time.Time{}
	case b.remaining <= 0 && b.isWindow:
		return b.seen.Add(b.reset)
	case b.remaining <= 0:
		return from.Add(time.Duration(float64(b.reset) / float64(b.limit) / b.share))
	case b.remaining <= reserve:
		// The less is left, the slower: so processes that share a limit find a balance.
		return from.Add(b.interval * time.Duration(reserve) / time.Duration(b.remaining))
	}
	return time.Time{}
}

func (b *budget) take(now time.Time) {
	if !now.Before(b.seen.Add(b.reset)) {
		b.remaining, b.seen = int(b.share*float64(b.limit)), now
	}
	b.remaining--
}

// learn takes over what a response says. others is the number of attempts that it may not
// have counted.
func (b *budget) learn(q quota, others int, now time.Time) {
	if limit := max(q.limit, q.remaining, 1); limit != b.limit {
		*b = budget{limit: limit, share: 1}
	}
	b.share = min(1, b.share+0.01)
	b.remaining, b.seen, b.reset = int(math.Ceil(b.share*float64(q.remaining)))-others, now, q.reset
	if used := b.limit - q.remaining; used > 0 && q.reset > 0 {
		interval := q.reset / time.Duration(used)
		if b.interval == 0 || interval < b.interval {
			b.interval = interval
		}
	}
}

// refused learns from a 429, after which the next request is accepted after a time.
func (b *budget) refused(wait time.Duration) {
	b.share = max(b.share/2, 0.05)
	if b.reset > 2*time.Second {
		b.isWindow = wait >= b.reset-time.Second
	}
}

func later(times ...time.Time) (latest time.Time) {
	for _, t := range times {
		if t.After(latest) {
			latest = t
		}
	}
	return latest
}

// enter sends to a channel that limits how many callers go on; nil limits none.
func enter(ctx context.Context, c chan struct{}) error {
	if tryEnter(c) {
		return nil
	}
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func tryEnter(c chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case c <- struct{}{}:
		return true
	default:
		return false
	}
}

func leave(c chan struct{}) {
	if c != nil {
		<-c
	}
}

// AwaitPermit waits for a permit for the first attempt at an operation, for a caller that
// decides only then what to send. Pass it to the call with [WithPermit], and release it in
// any case.
func (t *Transport) AwaitPermit(ctx context.Context, s api.Spec) (*Permit, error) {
	return t.limiter.await(ctx, s)
}

// TryPermit is AwaitPermit for a caller that does not wait. It returns nil if it would
// have to.
func (t *Transport) TryPermit(s api.Spec) *Permit { return t.limiter.try(s) }

// Unsent returns the error of a call whose caller gave up before it was sent.
func Unsent(s api.Spec, object string, cause error) *Error {
	return &Error{Operation: s.ID, Object: object, Err: asInterrupted(&unpermittedError{cause}, 0), notSent: true}
}

// RequestInterval returns about how long one more request takes under the limits that are
// known; 0 if there is none.
func (t *Transport) RequestInterval() time.Duration { return t.limiter.interval() }

type permitKey struct{}

// WithPermit returns a context in which the first attempt uses p.
func WithPermit(ctx context.Context, p *Permit) context.Context {
	return context.WithValue(ctx, permitKey{}, p)
}

// permit returns the permit for the next attempt. It sets when the call began, and does
// not count the time of waiting as a part of the call.
func (c *Call) permit(ctx context.Context) (*Permit, error) {
	t, before := c.t, c.t.Hooks.Now()
	p, _ := ctx.Value(permitKey{}).(*Permit)
	if p == nil || p.used.Swap(true) {
		wasOngoing := t.outage.isOngoing()
		var err error
		if p, err = t.limiter.await(ctx, c.spec); err != nil {
			return nil, &unpermittedError{err}
		}
		if _, lookup := lookupKey(ctx); !lookup && !wasOngoing {
			if err := t.outage.allow(t.Hooks.Now()); err != nil {
				p.Release()
				return nil, &unpermittedError{err}
			}
		}
		p.used.Store(true)
	}
	now := t.Hooks.Now()
	if c.Attempts == 0 {
		c.Started = now
	} else {
		c.queued += now.Sub(before)
	}
	return p, nil
}

// unpermittedError says that an attempt was not made.
type unpermittedError struct{ cause error }

func (e *unpermittedError) Error() string { return e.cause.Error() }

func (e *unpermittedError) Unwrap() error { return e.cause }
