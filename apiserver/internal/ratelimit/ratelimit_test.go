package ratelimit

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var start = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// TestFullBucketsAreEvicted checks that full buckets are deleted once there are many, and
// no others, because a caller that has used up its limit must not get a new bucket.
func TestFullBucketsAreEvicted(t *testing.T) {
	t.Parallel()
	l := New(Limit{Requests: 2, Per: time.Minute}, nil)
	l.TakeLocally("used", start.Add(time.Second))
	for i := 1; i < firstEvictAt; i++ {
		l.TakeLocally(strconv.Itoa(i), start.Add(-30*time.Second))
	}
	if len(l.leases) != firstEvictAt {
		t.Errorf("%d buckets; want %d", len(l.leases), firstEvictAt)
	}
	if u := l.TakeLocally("new", start); len(l.leases) != 2 || u.Remaining != 1 {
		t.Errorf("%d buckets remain; want the used one and the new one: %+v", len(l.leases), u)
	}
	if u := l.TakeLocally("used", start.Add(time.Second)); u.Remaining != 0 {
		t.Errorf("the used bucket was evicted: %+v", u)
	}
	// If many buckets are in use, eviction runs less often.
	for i := range firstEvictAt {
		l.TakeLocally(strconv.Itoa(i), start)
	}
	if len(l.leases) < firstEvictAt || l.evictAt <= firstEvictAt {
		t.Errorf("%d buckets, and the next eviction is at %d", len(l.leases), l.evictAt)
	}
}

// shared is a store that has only token buckets. Its updates fail if it is down.
type shared struct {
	store.Store
	buckets map[string]time.Time
	updates int
	down    bool
}

type sharedTx struct {
	store.Tx
	*shared
}

func (s *shared) Update(_ context.Context, fn func(store.Tx) error) error {
	if s.updates++; s.down {
		return errors.New("the store is down")
	}
	return fn(sharedTx{shared: s})
}

func (t sharedTx) UpdateTokenBucket(name string, _ time.Time, change func(time.Time) (time.Time, error)) error {
	at, err := change(t.buckets[name])
	t.buckets[name] = at.Truncate(time.Microsecond)
	return err
}

// exact is the bucket that the limiters together should be: it counts what they allow.
type exact struct {
	Limit
	level float64
	at    time.Time
}

func (e *exact) advance(now time.Time) {
	refilled := now.Sub(e.at).Seconds() * float64(e.Requests) / e.Per.Seconds()
	e.level, e.at = min(float64(e.Requests), e.level+refilled), now
}

// TestLimitersAgree draws requests to up to five limiters with one store, of which some end
// and start again. Together they must not allow more than the limit, nor refuse what it
// allows, by more than a tenth of it; one limiter alone must be exact to a block.
func TestLimitersAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := Limit{
			Requests: rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(61, 5000)).Draw(t, "requests"),
			Per:      rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "per"),
		}
		s := &shared{buckets: map[string]time.Time{}}
		limiters := make([]*Limiter, rapid.IntRange(1, 5).Draw(t, "limiters"))
		for i := range limiters {
			limiters[i] = New(limit, s)
		}
		want := &exact{limit, float64(limit.Requests), start}
		now, tolerance := start, float64(limit.Requests)/10+0.01
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i := rapid.IntRange(0, len(limiters)-1).Draw(t, "limiter")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				if e := limiters[i].leases["key"]; e != nil {
					want.level -= float64(e.tokens) // which nobody can use any more
				}
				limiters[i] = New(limit, s)
				continue
			case 1, 2, 3:
				now = now.Add(limit.Per / time.Duration(rapid.SampledFrom([]int{1, 3, 9, 11, 49, 1000}).Draw(t, "wait")))
				continue
			}
			want.advance(now)
			spread := rapid.Bool().Draw(t, "spread")
			for n := range rapid.IntRange(1, 1+limit.Requests/3).Draw(t, "burst") {
				if spread {
					i = n % len(limiters)
				}
				u := limiters[i].Take(t.Context(), "key", now)
				if len(limiters) == 1 {
					isExact(t, u, want)
				}
				switch {
				case u.Allowed:
					if want.level--; want.level < -tolerance {
						t.Fatalf("%d limiters allow %.1f more than %d requests in %s", len(limiters), -want.level, limit.Requests, limit.Per)
					}
				case want.level > max(1, tolerance):
					t.Fatalf("one of %d limiters refuses a request, although %.1f of %d are left", len(limiters), want.level, limit.Requests)
				}
			}
		}
	})
}

// isExact checks the response to a request before which a bucket has a level. The bucket may
// be full while the limiter still holds a part of a block.
func isExact(t *rapid.T, u Usage, before *exact) {
	level, held := before.level, float64(max(1, before.Requests/blocks)-1)
	if allowed := level >= 1; allowed != u.Allowed && math.Abs(level-1) > held+0.01 {
		t.Fatalf("allowed %t with %.3f tokens", u.Allowed, level)
	}
	if u.Allowed {
		level--
	}
	interval := before.Per.Seconds() / float64(before.Requests)
	near := func(what string, got int, want, tolerance float64) {
		if math.Abs(float64(got)-want) > tolerance+1.01 {
			t.Fatalf("%s is %d with %.3f tokens; want about %.3f", what, got, level, want)
		}
	}
	near("Remaining", u.Remaining, level, held)
	near("Reset", u.Reset, (float64(before.Requests)-level)*interval, held*interval)
	near("Wait", u.Wait, max(1, (1-level)*interval), held*interval)
}

// TestFewUpdates checks that requests don't read the store each, whether they are allowed
// or refused, and that a bucket which others have emptied is noticed.
func TestFewUpdates(t *testing.T) {
	t.Parallel()
	s := &shared{buckets: map[string]time.Time{}}
	limit := Limit{Requests: 1000, Per: time.Minute}
	a, b := New(limit, s), New(limit, s)
	take := func(l *Limiter, n int) (allowed int) {
		for range n {
			if l.Take(t.Context(), "key", start).Allowed {
				allowed++
			}
		}
		return allowed
	}
	if n := take(a, 500); n != 500 || s.updates != 25 {
		t.Errorf("%d of 500 requests are allowed with %d updates", n, s.updates)
	}
	if n := take(b, 10_000); n != 500 || s.updates != 51 {
		t.Errorf("%d of the other 500 requests are allowed with %d updates", n, s.updates)
	}
	if u := a.Take(t.Context(), "key", start); u.Allowed || u.Remaining != 0 || u.Wait != 1 || u.Reset != 60 {
		t.Errorf("the bucket is empty: %+v", u)
	}
}

// TestOutage checks that a limit holds for a process that has no store.
func TestOutage(t *testing.T) {
	t.Parallel()
	s := &shared{buckets: map[string]time.Time{}}
	l := New(Limit{Requests: 200, Per: time.Minute}, s)
	allowed := 0
	for i := range 1000 {
		s.down = i >= 100
		if l.Take(t.Context(), "key", start).Allowed {
			allowed++
		}
	}
	if allowed != 200 {
		t.Errorf("%d requests are allowed; want 200", allowed)
	}
}
