package client

import "sync/atomic"

// outage is whether the API can't be reached at all: some call has used up its
// patience without an answer. While it lasts, each new call asks once and does
// not wait, so that an apply of thousands of objects ends soon, and not after
// thousands times the patience of one. The next answer ends it.
type outage struct {
	lasts atomic.Bool
}

func (o *outage) begin()        { o.lasts.Store(true) }
func (o *outage) end()          { o.lasts.Store(false) }
func (o *outage) ongoing() bool { return o.lasts.Load() }
