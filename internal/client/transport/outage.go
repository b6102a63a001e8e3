package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// probeInterval is the time between two attempts during an outage.
const probeInterval = 15 * time.Second

// outage is the period from a call that ends without a response until the next response. Meanwhile calls
// fail at once, except one attempt in each probeInterval, so that a run with thousands of objects ends soon.
type outage struct {
	mu        sync.Mutex
	probed    time.Time // when the latest attempt began or failed; zero: there is no outage
	cause     error     // why the API can't be reached
	responded time.Time // when the latest response came; zero: never
}

// begin starts or extends the outage at now, unless a response came since an earlier time.
func (o *outage) begin(since, now time.Time, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.responded.Before(since) {
		o.probed, o.cause = now, cause
	}
}

func (o *outage) end(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.probed, o.responded = time.Time{}, now
}

func (o *outage) isOngoing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.probed.IsZero()
}

// allow returns nil if a call may make an attempt, and otherwise the error of the call.
func (o *outage) allow(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.probed.IsZero():
		return nil
	case now.Sub(o.probed) < probeInterval:
		return fmt.Errorf("%w (so failed an earlier request; this one was not sent)", o.cause)
	}
	o.probed = now
	return nil
}

// Reached reports whether any server has responded.
func (t *Transport) Reached() bool {
	t.outage.mu.Lock()
	defer t.outage.mu.Unlock()
	return !t.outage.responded.IsZero()
}

// Incident is a failure of the whole connection, such as an outage or a refused credential. All errors with that
// cause share it, so that a program reports it in full once. The zero value is ready, and safe for concurrent use.
type Incident struct {
	explained, failed atomic.Bool
}

// Explain reports whether the caller is the first, and so must report the incident in full.
func (i *Incident) Explain() (first bool) { return !i.explained.Swap(true) }

// Fail reports whether the caller is the first, and so must return the error that fails the run.
func (i *Incident) Fail() (first bool) { return !i.failed.Swap(true) }

// incidents are shared by the errors of one Transport.
type incidents struct {
	unreachable, credential, noAPI Incident
}

// of returns the incident of a call without a response, or nil if the caller gave up.
func (i *incidents) of(cause error) *Incident {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return nil
	}
	if _, ok := errors.AsType[*TokenError](cause); ok {
		return &i.credential
	}
	return &i.unreachable
}

// IncidentOf returns the incident that caused an error, or nil.
func IncidentOf(err error) *Incident {
	switch e := err.(type) {
	case interface{ Incident() *Incident }:
		return e.Incident()
	case interface{ Unwrap() error }:
		return IncidentOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, each := range e.Unwrap() {
			if i := IncidentOf(each); i != nil {
				return i
			}
		}
	}
	return nil
}
