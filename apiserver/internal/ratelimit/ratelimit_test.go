package ratelimit

import (
	"math"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var start = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// TestTake takes requests from a bucket of three a minute.
func TestTake(t *testing.T) {
	t.Parallel()
	now, l := start, New(Limit{Requests: 3, Per: time.Minute})
	for i, step := range []struct {
		after time.Duration
		want  Usage
	}{
		{0, Usage{Allowed: true, Remaining: 2, Reset: 20, Wait: 1}},
		{0, Usage{Allowed: true, Remaining: 1, Reset: 40, Wait: 1}},
		{0, Usage{Allowed: true, Remaining: 0, Reset: 60, Wait: 20}},
		{0, Usage{Allowed: false, Remaining: 0, Reset: 60, Wait: 20}},
		{time.Second / 2, Usage{Allowed: false, Remaining: 0, Reset: 60, Wait: 20}},
		{18 * time.Second, Usage{Allowed: false, Remaining: 0, Reset: 42, Wait: 2}},
		{3 * time.Second / 2, Usage{Allowed: true, Remaining: 0, Reset: 60, Wait: 20}},
		{-time.Hour, Usage{Allowed: false, Remaining: 0, Reset: 60, Wait: 20}}, // the clock goes back
		{2 * time.Hour, Usage{Allowed: true, Remaining: 2, Reset: 20, Wait: 1}},
	} {
		now = now.Add(step.after)
		u := l.Take("key", now)
		assert.Check(t, u == step.want, "step %d: %+v, want %+v", i, u, step.want)
	}
	u := l.Take("other", now)
	assert.Check(t, u.Remaining == 2, "another key shares the bucket: %+v", u)
	l.Return("key")
	l.Return("unknown")
	u = l.Take("key", now)
	assert.Check(t, u == Usage{Allowed: true, Remaining: 2, Reset: 20, Wait: 1}, "after Return: %+v", u)
	l.Reset()
	u = l.Take("key", now)
	assert.Check(t, u.Remaining == 2, "after Reset: %+v", u)
	(*Limiter)(nil).Reset()
}

// TestFullBucketsAreEvicted checks that only full buckets are deleted, once there are many, because
// a caller at its limit must not get a new bucket.
func TestFullBucketsAreEvicted(t *testing.T) {
	t.Parallel()
	at, l := start, New(Limit{Requests: 2, Per: time.Minute})
	l.Take("used", at.Add(time.Second))
	for i := 1; i < firstEvictAt; i++ {
		l.Take(strconv.Itoa(i), at.Add(-30*time.Second))
	}
	assert.Check(t, len(l.fullAt) == firstEvictAt, "%d buckets; want %d", len(l.fullAt), firstEvictAt)
	u := l.Take("new", at)
	assert.Check(t, len(l.fullAt) == 2 && u.Remaining == 1, "%d buckets remain; want the used one and the new one: %+v", len(l.fullAt), u)
	u = l.Take("used", at.Add(time.Second))
	assert.Check(t, u.Remaining == 0, "the used bucket was evicted: %+v", u)
	// If many buckets are in use, eviction runs less often.
	for i := range firstEvictAt {
		l.Take(strconv.Itoa(i), at)
	}
	assert.Check(t, len(l.fullAt) >= firstEvictAt && l.evictAt > firstEvictAt, "%d buckets, and the next eviction is at %d", len(l.fullAt), l.evictAt)
}

// bucket is a store with one token bucket.
type bucket struct {
	store.Tx
	fullAt time.Time
}

func (b *bucket) UpdateTokenBucket(_ string, _ time.Time, change func(time.Time) time.Time) error {
	b.fullAt = change(b.fullAt).Truncate(time.Microsecond)
	return nil
}

// TestTakeStored checks that a bucket in the store behaves like a bucket in memory.
func TestTakeStored(t *testing.T) {
	t.Parallel()
	limit := Limit{Requests: 3, Per: time.Minute}
	b, l := &bucket{}, New(limit)
	for i := range 10 {
		now := start.Add(time.Duration(i) * 5 * time.Second)
		got, err := limit.TakeStored(b, "", now)
		assert.Check(t, err == nil && got == l.Take("", now), "request %d: %+v, %v", i, got, err)
	}
}

// TestTakeStoredAfterAWrongClock checks that a bucket that a server with a wrong clock wrote is no more than empty, and
// is used again after Per at the latest, although a refused request writes nothing.
func TestTakeStoredAfterAWrongClock(t *testing.T) {
	t.Parallel()
	limit := Limit{Requests: 3, Per: time.Minute}
	for _, off := range []time.Duration{-365 * 24 * time.Hour, -time.Hour, -time.Minute, store.ClockTolerance, time.Minute, time.Hour, 365 * 24 * time.Hour} {
		b := &bucket{}
		for range 3 {
			_, err := limit.TakeStored(b, "", start.Add(off))
			assert.NilError(t, err)
		}
		for now := start; ; now = now.Add(time.Second) {
			before := b.fullAt
			u, err := limit.TakeStored(b, "", now)
			assert.NilError(t, err)
			if u.Allowed {
				break
			}
			b.fullAt = before // as the transaction of a refused request
			assert.Assert(t, now.Before(start.Add(limit.Per)), "off by %s: still refused at %s", off, now)
		}
	}
}

// TestLimitHolds takes random requests and compares a bucket with its level.
func TestLimitHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := Limit{
			Requests: rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(61, 5000)).Draw(t, "requests"),
			Per:      rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "per"),
		}
		now, level, l := start, float64(limit.Requests), New(limit)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			wait := limit.Per / time.Duration(rapid.SampledFrom([]int{1, 3, 9, 11, 49, 1000}).Draw(t, "wait"))
			now, level = now.Add(wait), min(float64(limit.Requests), level+wait.Seconds()*float64(limit.Requests)/limit.Per.Seconds())
			for range rapid.IntRange(0, 1+limit.Requests/3).Draw(t, "burst") {
				u := l.Take("", now)
				assert.Assert(t, u.Allowed == (level >= 1) || math.Abs(level-1) <= 0.01, "allowed %t with %.3f tokens", u.Allowed, level)
				if u.Allowed {
					level--
				}
				assert.Assert(t, math.Abs(float64(u.Remaining)-level) <= 1.01, "%d remain of %.3f tokens", u.Remaining, level)
			}
		}
	})
}
