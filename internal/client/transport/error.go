package transport

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ErrNotFound matches a 404 of an operation on an object.
var ErrNotFound = errors.New("not found")

// Error is a call that failed: the API refused it, or did not respond.
type Error struct {
	Status            int       // the HTTP status code; 0 without a response
	RequestID         string    // in the API's log
	Operation, Object string    // the operation's id, and the object of the call, for messages
	Problems          []Problem // as the API reported them
	Raw               string    // the beginning of a response that the API itself did not send, such as a proxy's page
	Err               error     // the cause if the response is missing or unreadable
	Advice            string    // the next step, if the credential is the cause

	noObject bool // the path names no object, or a proxy sent the response: a 404 does not mean that an object is missing
	notSent  bool // the request certainly did not reach the API
	incident *Incident
}

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

// Reason returns the cause of the failure, without the operation and the object.
func (e *Error) Reason() string {
	_, interrupted := errors.AsType[*interruptedError](e.Err)
	_, noToken := errors.AsType[*TokenError](e.Err)
	switch {
	case len(e.Problems) > 0:
		msgs := make([]string, len(e.Problems))
		for i, p := range e.Problems {
			msgs[i] = p.String()
		}
		return strings.Join(msgs, "; ")
	case interrupted, noToken:
		return e.Err.Error()
	case e.Err != nil && e.Status != 0:
		return e.Err.Error()
	case e.notSent:
		return "the API can't be reached: " + e.Err.Error()
	case e.Err != nil:
		return "the API did not respond: " + e.Err.Error()
	case e.Raw != "":
		return "the response is not the API's own, it begins: " + e.Raw
	case e.Status/100 == 3:
		return "the response is a redirect, which the API does not use; is the base URL right?"
	}
	return "the API gave no reason"
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports a 404 or 410 of an operation on an object as ErrNotFound.
func (e *Error) Is(target error) bool { return target == ErrNotFound && e.IsMissing() && !e.noObject }

// IsMissing reports whether the response says that something does not exist: the object, the operation or the API.
func (e *Error) IsMissing() bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// Incident returns the failure of the whole connection that caused the error, or nil.
func (e *Error) Incident() *Incident { return e.incident }

// ProblemsAt returns the problems at a location in the request and below it.
func (e *Error) ProblemsAt(loc ...string) []Problem {
	var at []Problem
	for _, p := range e.Problems {
		if len(p.Loc) >= len(loc) && slices.Equal(p.Loc[:len(loc)], loc) {
			at = append(at, p)
		}
	}
	return at
}

// Unsupported reports whether the API does not implement the operation.
func (e *Error) Unsupported() bool {
	return (e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented) && !e.NotRecorded()
}

// NotRecorded reports whether a recording that responds in place of the API lacks the request.
func (e *Error) NotRecorded() bool {
	return slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Type == api.TypeNotRecorded })
}

// Subject describes a call for a message.
func Subject(operation, object string) string {
	if object == "" {
		return operation
	}
	return operation + " for " + object
}
