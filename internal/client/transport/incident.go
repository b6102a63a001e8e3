package transport

import (
	"context"
	"errors"
	"sync/atomic"
)

// Incident is a failure of the connection as a whole: an outage, a refused
// credential, the wrong account. All errors of one Transport with the same cause
// share one Incident, so that a program can report it in full once and refer to
// that report afterwards. The zero value is ready, and safe for concurrent use.
type Incident struct {
	explained, failed atomic.Bool
}

// Explain returns true to its first caller, who reports the incident in full.
func (i *Incident) Explain() (first bool) { return !i.explained.Swap(true) }

// Fail returns true to its first caller, whose error fails the program's run.
func (i *Incident) Fail() (first bool) { return !i.failed.Swap(true) }

// incidents are those that the errors of one Transport share.
type incidents struct {
	unreachable, credential, noAPI Incident
}

// IncidentOf returns the incident that an error comes from, or nil.
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

// incidentOf classifies the cause of a call without a response. A caller that
// gave up says nothing about the connection.
func (t *Transport) incidentOf(cause error) *Incident {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return nil
	}
	if _, ok := errors.AsType[*tokenError](cause); ok {
		return &t.incidents.credential
	}
	return &t.incidents.unreachable
}
