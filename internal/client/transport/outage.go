package transport

import (
	"fmt"
	"sync"
	"time"
)

// probeInterval is the time between two attempts during an outage.
const probeInterval = 15 * time.Second

// outage is the time in which the API can't be reached: it begins when a call ends
// without a response, and ends with the next response. During an outage calls fail
// at once, so that a run with thousands of objects ends soon. One call at a time,
// and none within probeInterval of the last failure, makes a single attempt (the
// probe) to find out whether the API is back.
type outage struct {
	mu      sync.Mutex
	ongoing bool
	failed  time.Time // when the latest attempt failed
	cause   error     // why it failed
	probing bool
}

// begin starts the outage, or extends it after a failed probe.
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

func (o *outage) isOngoing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ongoing
}

// allow returns nil if a call may make an attempt, and otherwise why not.
func (o *outage) allow(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ongoing {
		return nil
	}
	if o.probing || now.Sub(o.failed) < probeInterval {
		return fmt.Errorf("%w (so failed an earlier request; this one was not sent)", o.cause)
	}
	o.probing = true
	return nil
}

// cancelProbe lets another call make the probe, because this one's caller gave up.
func (o *outage) cancelProbe() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.probing = false
}
