package apiserver

import (
	"strconv"
	"testing"
	"time"
)

// Buckets that are full again are forgotten once there are many, and no others:
// whoever has used up a limit must not get a new one in that way.
func TestRateLimitForgetsFullBuckets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	l := newRateLimiter(RateLimit{Requests: 2, Per: time.Minute})
	l.bucket("used", now).AllowN(now, 1)
	for i := 1; i < firstTidyAt; i++ {
		l.bucket(strconv.Itoa(i), now)
	}
	if len(l.buckets) != firstTidyAt {
		t.Errorf("%d buckets; want %d", len(l.buckets), firstTidyAt)
	}
	l.bucket("new", now)
	if len(l.buckets) != 2 || l.bucket("used", now).TokensAt(now) != 1 {
		t.Errorf("%d buckets are left; want the used one and the new one", len(l.buckets))
	}
	// Where many are in use, looking through them gets rarer.
	for i := range firstTidyAt {
		l.bucket(strconv.Itoa(i), now).AllowN(now, 1)
	}
	if len(l.buckets) < firstTidyAt || l.tidyAt <= firstTidyAt {
		t.Errorf("%d buckets, and the next look is at %d", len(l.buckets), l.tidyAt)
	}
	later := now.Add(time.Minute)
	for i := range l.tidyAt {
		l.bucket("later "+strconv.Itoa(i), later)
	}
	if _, left := l.buckets["used"]; left {
		t.Error("a bucket that is full again is left")
	}
}
