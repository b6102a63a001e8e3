package control

import (
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// Clock is the system's clock, moved by an amount that can be changed. Its Now
// is for apiserver.Options.Clock. The zero value is not moved.
type Clock struct {
	moved atomic.Int64
}

// The times that POST /clock may set. What a service reckons from them, such as
// the end of a domain's registration, has its place in a time.Duration too.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

var errOutOfRange = errors.New("the clock can show the years 1970 to 2199")

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.moved.Load())) }

// Advance moves the clock on; a negative duration moves it back. It ends where a
// time.Duration does, 292 years from the system's time.
func (c *Clock) Advance(d time.Duration) {
	for {
		moved := c.moved.Load()
		if c.moved.CompareAndSwap(moved, sum(moved, int64(d))) {
			return
		}
	}
}

// sum adds, and stays within an int64.
func sum(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Set makes the clock show a time, and go on from there. It ends where Advance
// does.
func (c *Clock) Set(t time.Time) { c.moved.Store(int64(time.Until(t))) }

// tryAdvance is Advance for what anybody may ask for.
func (c *Clock) tryAdvance(d time.Duration) error {
	for {
		moved := c.moved.Load()
		next := sum(moved, int64(d))
		if !inRange(time.Now().Add(time.Duration(next))) {
			return errOutOfRange
		}
		if c.moved.CompareAndSwap(moved, next) {
			return nil
		}
	}
}

// trySet is Set for what anybody may ask for.
func (c *Clock) trySet(t time.Time) error {
	if !inRange(t) {
		return errOutOfRange
	}
	c.Set(t)
	return nil
}

func inRange(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }

// reset makes the clock show the system's time, and returns how far it was moved.
func (c *Clock) reset() (moved time.Duration) { return time.Duration(c.moved.Swap(0)) }
