package client

import (
	"fmt"
	"sync"
	"time"
)

// outageHold is how long after a failed attempt no further one is made during an
// outage.
const outageHold = 15 * time.Second

// outage is the time in which the API can't be reached: it begins when a call has
// used up its patience without a response, and ends with the next response.
// During an outage calls fail at once and without a request, so that a run with
// thousands of objects ends soon; only one call at a time, and none within
// outageHold of the last failure, makes a single attempt to find out whether the
// API is back.
type outage struct {
	mu      sync.Mutex
	ongoing bool
	failed  time.Time // of the latest attempt
	cause   error     // why it failed
	probing bool
}

// begin starts the outage, or extends it after a failed attempt.
func (o *outage) begin(now time.Time, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ongoing, o.failed, o.cause, o.probing = true, now, cause, false
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ongoing, o.probing = false, false
}

func (o *outage) lasts() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ongoing
}

// check returns nil if a call may make an attempt, or else why it may not.
func (o *outage) check(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ongoing {
		return nil
	}
	if o.probing || now.Sub(o.failed) < outageHold {
		return fmt.Errorf("%w (so failed an earlier request; this one was not sent)", o.cause)
	}
	o.probing = true
	return nil
}

// release lets another call make the attempt, because this one's caller gave up.
func (o *outage) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.probing = false
}
