package ratelimit

import (
	"strconv"
	"testing"
	"time"
)

// TestFullBucketsAreEvicted checks that full buckets are deleted once there are many, and
// no others, because a caller that has used up its limit must not get a new bucket.
func TestFullBucketsAreEvicted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	l := New(Limit{Requests: 2, Per: time.Minute})
	l.bucket("used", now).AllowN(now, 1)
	for i := 1; i < firstEvictAt; i++ {
		l.bucket(strconv.Itoa(i), now)
	}
	if len(l.buckets) != firstEvictAt {
		t.Errorf("%d buckets; want %d", len(l.buckets), firstEvictAt)
	}
	l.bucket("new", now)
	if len(l.buckets) != 2 || l.bucket("used", now).TokensAt(now) != 1 {
		t.Errorf("%d buckets remain; want the used one and the new one", len(l.buckets))
	}
	// If many buckets are in use, eviction runs less often.
	for i := range firstEvictAt {
		l.bucket(strconv.Itoa(i), now).AllowN(now, 1)
	}
	if len(l.buckets) < firstEvictAt || l.evictAt <= firstEvictAt {
		t.Errorf("%d buckets, and the next eviction is at %d", len(l.buckets), l.evictAt)
	}
	later := now.Add(time.Minute)
	for i := range l.evictAt {
		l.bucket("later "+strconv.Itoa(i), later)
	}
	if _, left := l.buckets["used"]; left {
		t.Error("a full bucket was not evicted")
	}
}
