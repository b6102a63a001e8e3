package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// ErrNotFound is matched by the 404 of an operation on an object.
var ErrNotFound = errors.New("not found")

// Error is a call that failed: the API refused it, or did not respond.
type Error struct {
	// Status is the HTTP status code; 0 without a response.
	Status int
	// RequestID is the id of the request in the API's log.
	RequestID string
	// Operation is the id of the operation, Object what the call was about.
	Operation, Object string
	// Problems is what the API says is wrong.
	Problems []Problem
	// Raw is the beginning of a response that is not the API's own, such as a
	// proxy's page.
	Raw string
	// Err is the cause if there was no response, or an unreadable one.
	Err error

	collection bool // the path names no object, so a 404 is not about one
	notSent    bool // the request certainly did not reach the API
	incident   *Incident
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("the request %s failed: %s", Subject(e.Operation, e.Object), e.Detail())
}

// Detail returns the reason with the status and the request id.
func (e *Error) Detail() string {
	var source []string
	if e.Status != 0 {
		source = append(source, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.RequestID != "" {
		source = append(source, "request id "+e.RequestID)
	}
	if len(source) == 0 {
		return e.Reason()
	}
	return fmt.Sprintf("%s (%s)", e.Reason(), strings.Join(source, ", "))
}

// Reason returns what went wrong, without the operation and the object.
func (e *Error) Reason() string {
	_, interrupted := errors.AsType[*interruptedError](e.Err)
	switch {
	case len(e.Problems) > 0:
		msgs := make([]string, len(e.Problems))
		for i, p := range e.Problems {
			msgs[i] = p.String()
		}
		return strings.Join(msgs, "; ")
	case interrupted:
		return e.Err.Error()
	case e.Err != nil && e.Status == 0 && e.notSent:
		return "the API can't be reached: " + e.Err.Error()
	case e.Err != nil && e.Status == 0:
		return "the API did not respond: " + e.Err.Error()
	case e.Err != nil:
		return e.Err.Error()
	case e.Raw != "":
		return "the response is not the API's own, it begins: " + e.Raw
	case e.Status >= 300 && e.Status < 400:
		return "the response is a redirect, which the API does not use; is the base URL right?"
	}
	return "the API gave no reason"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports a 404 of an operation on an object as ErrNotFound.
func (e *Error) Is(target error) bool {
	return target == ErrNotFound && e.Status == http.StatusNotFound && !e.collection
}

// Incident returns the failure of the connection that the error comes from, or
// nil.
func (e *Error) Incident() *Incident { return e.incident }

// ProblemsAt returns the problems at a place of the request and below it.
func (e *Error) ProblemsAt(loc ...string) []Problem {
	var at []Problem
	for _, p := range e.Problems {
		if len(p.Loc) >= len(loc) && slices.Equal(p.Loc[:len(loc)], loc) {
			at = append(at, p)
		}
	}
	return at
}

// Unsupported reports whether the API says that it has no such operation.
func (e *Error) Unsupported() bool {
	return e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented
}

// Subject names a call in a message.
func Subject(operation, object string) string {
	if object == "" {
		return operation
	}
	return operation + " for " + object
}

// interruptedError says that the caller gave up: the run was interrupted, or the
// time for the operation is over.
type interruptedError struct {
	cause error
	// status is that of the latest response, if the call was waiting to retry.
	status int
}

// asInterrupted returns the end of a context as an interruptedError, and any other
// cause unchanged.
func asInterrupted(cause error, status int) error {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return &interruptedError{cause, status}
	}
	return cause
}

// Error implements error.
func (e *interruptedError) Error() string {
	text := "the run was interrupted"
	if errors.Is(e.cause, context.DeadlineExceeded) {
		text = "the time for it is over"
	}
	if e.status != 0 {
		return fmt.Sprintf("%s, while it waited to retry after HTTP %d", text, e.status)
	}
	return text + " before the API responded"
}

// Unwrap returns the cause.
func (e *interruptedError) Unwrap() error { return e.cause }

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
