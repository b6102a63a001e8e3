package control

import (
	"sync/atomic"
	"time"
)

// Clock is the system's clock, moved by an amount that can be changed. Its Now
// is for apiserver.Options.Clock. The zero value is not moved.
type Clock struct {
	moved atomic.Int64
}

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.moved.Load())) }

// Advance moves the clock on; a negative duration moves it back.
func (c *Clock) Advance(d time.Duration) { c.moved.Add(int64(d)) }

// Set makes the clock show a time, and go on from there.
func (c *Clock) Set(t time.Time) { c.moved.Store(int64(time.Until(t))) }

// reset makes the clock show the system's time, and returns how far it was moved.
func (c *Clock) reset() (moved time.Duration) { return time.Duration(c.moved.Swap(0)) }
