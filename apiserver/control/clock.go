package control

import (
	"errors"
	"sync/atomic"
	"time"
)

// Clock is the system clock plus an offset, for apiserver.Options.Clock. The zero value adds no
// offset. It is safe for concurrent use.
type Clock struct{ offset atomic.Int64 }

// The range of the clock. It is so narrow that times derived by the service, such as the end of a
// registration, also fit into a time.Duration.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

var errOutOfRange = errors.New("the clock can show the years 1970 to 2199")

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Advance moves the clock forward, or back if d is negative. If the year would be before 1970 or
// after 2199, it returns an error and changes nothing.
func (c *Clock) Advance(d time.Duration) error {
	if !inRange(c.Now().Add(d)) {
		return errOutOfRange
	}
	c.offset.Add(int64(d))
	return nil
}

// Set sets the clock to t. The range is the same as in Advance.
func (c *Clock) Set(t time.Time) error {
	if !inRange(t) {
		return errOutOfRange
	}
	c.offset.Store(int64(time.Until(t)))
	return nil
}

func inRange(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }
