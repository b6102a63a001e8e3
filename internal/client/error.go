package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Errors to compare with errors.Is.
var (
	// ErrNotFound: there is no such object.
	ErrNotFound = errors.New("not found")
	// ErrReadUnsupported: this API has neither an operation that reads such an
	// object nor a list of them.
	ErrReadUnsupported = errors.New("this API can't read such an object")
	// ErrCreateUnsupported: this API has no such operation.
	ErrCreateUnsupported = errors.New("this API can't create such an object")
	// ErrUpdateUnsupported: this API has no such operation.
	ErrUpdateUnsupported = errors.New("this API can't change such an object in this way")
	// ErrDeleteUnsupported: this API has no such operation; the object is still
	// there.
	ErrDeleteUnsupported = errors.New("this API can't delete such an object")
)

// Error is a call that failed: the API refused it, or did not respond.
type Error struct {
	// Status is the HTTP status; 0 without a response.
	Status int
	// RequestID names the request in the API's log.
	RequestID string
	// Operation is the id of the operation, Object what it was about.
	Operation, Object string
	// Problems is what the API says is wrong.
	Problems []Problem
	// Raw is the beginning of a response that is not the API's own, such as a
	// proxy's page.
	Raw string
	// Err is the cause if there was no response, or none that can be read.
	Err error

	// collection: the path names no object, so a 404 is not about one.
	collection bool
	// unsent: the request certainly did not reach the API.
	unsent bool
	// incident is the failure of the connection that this one comes from.
	incident *Incident
}

// Problem is one thing that is wrong, at a place of the request.
type Problem struct {
	// Loc begins with path, query, header or body; empty where the API names no
	// place.
	Loc  []string
	Msg  string
	Type string
}

// String returns the message, after the name of the field that it is about. Other
// places of a request are the client's own and mean nothing to its users.
func (p Problem) String() string {
	if len(p.Loc) < 2 || p.Loc[0] != "body" && p.Loc[0] != "query" {
		return p.Msg
	}
	return strings.Join(p.Loc[1:], ".") + ": " + p.Msg
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("the request %s failed: %s", subject(e.Operation, e.Object), e.reasonAndSource())
}

// reasonAndSource is the reason with the status and the request id.
func (e *Error) reasonAndSource() string {
	var tail []string
	if e.Status != 0 {
		tail = append(tail, strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.RequestID != "" {
		tail = append(tail, "request id "+e.RequestID)
	}
	if len(tail) == 0 {
		return e.Reason()
	}
	return fmt.Sprintf("%s (%s)", e.Reason(), strings.Join(tail, ", "))
}

// Reason returns what went wrong, without what it was about.
func (e *Error) Reason() string {
	switch {
	case len(e.Problems) > 0:
		msgs := make([]string, len(e.Problems))
		for i, p := range e.Problems {
			msgs[i] = p.String()
		}
		return strings.Join(msgs, "; ")
	case isGivenUp(e.Err):
		return e.Err.Error()
	case e.Err != nil && e.Status == 0 && e.unsent:
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

func (e *Error) unsupported() bool {
	return e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented
}

// IsNotFound reports whether err says that there is no such object.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// IsConflict reports whether err says that something exists already, or that a
// state forbids the request. A 409 because the same request is still being processed
// is no conflict.
func IsConflict(err error) bool {
	return StatusOf(err) == http.StatusConflict && len(ProblemsAt(err, "header", api.IdempotencyKeyHeader)) == 0
}

// IsUnsupported reports whether err says that this API has no such operation.
func IsUnsupported(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.unsupported() {
		return true
	}
	_, ok := errors.AsType[*UnsupportedError](err)
	return ok
}

// StatusOf returns the HTTP status of the answer behind err, or 0.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// ProblemsAt returns what err says of a place of the request and below it.
func ProblemsAt(err error, loc ...string) []Problem {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.ProblemsAt(loc...)
	}
	return nil
}

// UnsupportedError says which operation this API lacks. It is one of the
// Err…Unsupported.
type UnsupportedError struct {
	Operation, Object string
	Kind              error
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s (operation %s)", e.Kind, subject(e.Operation, e.Object))
}

// Unwrap returns the kind.
func (e *UnsupportedError) Unwrap() error { return e.Kind }

func unsupported(kind error, s api.Spec, object string) error {
	return &UnsupportedError{Operation: s.ID, Object: object, Kind: kind}
}

// AmbiguousError says that several objects answer to one description.
type AmbiguousError struct {
	// Object is the description, IDs are the objects.
	Object string
	IDs    []string
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: several match, with the ids %s", e.Object, strings.Join(e.IDs, ", "))
}

// notFound is the error of a search without a result.
func notFound(object string) error {
	return fmt.Errorf("%s: %w", object, ErrNotFound)
}

// subject names a request.
func subject(operation, object string) string {
	if object == "" {
		return operation
	}
	return operation + " for " + object
}
