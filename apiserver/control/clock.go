package control

import (
	"errors"
	"sync/atomic"
	"time"
)

// Clock is the system clock plus an offset. Its Now is for apiserver.Options.Clock.
// The zero value has no offset. It is safe for concurrent use.
type Clock struct{ offset atomic.Int64 }

// The range of the clock. It is narrow enough that times which the service derives,
// such as the end of a registration, fit into a time.Duration too.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

var errOutOfRange = errors.New("the clock can show the years 1970 to 2199")

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Advance moves the clock forward, or back if d is negative. It returns an error,
// and changes nothing, if the clock would show a year before 1970 or after 2199.
func (c *Clock) Advance(d time.Duration) error {
	if !inRange(c.Now().Add(d)) {
		return errOutOfRange
	}
	c.offset.Add(int64(d))
	return nil
}

// Set makes the clock show t now. It has the same range as Advance.
func (c *Clock) Set(t time.Time) error {
	if !inRange(t) {
		return errOutOfRange
	}
	c.offset.Store(int64(time.Until(t)))
	return nil
}

func inRange(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }
