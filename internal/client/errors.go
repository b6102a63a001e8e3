package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// The errors of single calls, from package transport.
type (
	Error    = transport.Error    // a call that failed
	Problem  = transport.Problem  // one thing that is wrong with a request
	Incident = transport.Incident // a connection failure that causes several errors

	ContractError = transport.ContractError // a difference of the host from the API's contract
)

// Errors to compare with errors.Is.
var (
	ErrNotFound = transport.ErrNotFound // there is no such object
	ErrNotTLS   = transport.ErrNotTLS   // base_url begins with https, but the server speaks HTTP
	ErrTLSOnly  = transport.ErrTLSOnly  // base_url begins with http, but the server speaks HTTPS
	ErrEmbedded = transport.ErrEmbedded // the embedded account failed, for instance because its disk is full

	// ErrNoAPI: there is no API at base_url.
	ErrNoAPI = errors.New("there is nothing of the API at this base_url")
	// ErrReadUnsupported: this API can neither read nor list such objects.
	ErrReadUnsupported = errors.New("this API can't read such an object")
	// ErrCreateUnsupported: this API lacks the operation; nothing was created.
	ErrCreateUnsupported = errors.New("this API can't create such an object")
	// ErrUpdateUnsupported: this API lacks the operation.
	ErrUpdateUnsupported = errors.New("this API can't change such an object in this way")
	// ErrDeleteUnsupported: this API lacks the operation; the object still exists.
	ErrDeleteUnsupported = errors.New("this API can't delete such an object")
)

// IncidentOf returns the connection failure that caused an error, or nil.
func IncidentOf(err error) *Incident { return transport.IncidentOf(err) }

// IsNotFound reports whether err says that the object does not exist.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// IsConflict reports whether an existing object, or the state of an object, forbids the request
// or one of its items. A 409 because the same request is still being processed is no conflict.
func IsConflict(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok && e.Operation == api.CreateMailboxes.ID && e.Status == api.CreateMailboxes.Status {
		return slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Type == api.BulkAlreadyExists || p.Type == api.BulkQuotaExceeded })
	}
	return StatusOf(err) == http.StatusConflict && len(ProblemsAt(err, "header", api.IdempotencyKeyHeader)) == 0
}

// IsUnsupported reports whether err says that this API lacks the operation.
func IsUnsupported(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Unsupported() || errors.Is(err, ErrCreateUnsupported) ||
		errors.Is(err, ErrReadUnsupported) || errors.Is(err, ErrUpdateUnsupported) || errors.Is(err, ErrDeleteUnsupported)
}

// StatusOf returns the status code of the response behind err, or 0.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.IsMissing()
}

// ProblemsAt returns the problems at or below a place of the request.
func ProblemsAt(err error, loc ...string) []Problem {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.ProblemsAt(loc...)
	}
	return nil
}

// unsupported returns the error of an operation that this API lacks; kind is one of the Err…Unsupported.
func unsupported(kind error, s api.Spec, object string) error {
	return fmt.Errorf("%w (operation %s)", kind, transport.Subject(s.ID, object))
}

// differs returns the error about a difference of the host from the contract, in the response to an operation.
func (c *Client) differs(s api.Spec, format string, args ...any) error {
	return &ContractError{Difference: fmt.Sprintf(format, args...), BaseURL: c.transport.BaseURL, InChange: s.Changes()}
}

// AmbiguousError says that several objects match one description.
type AmbiguousError struct {
	Object string   // the description
	IDs    []string // the objects
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: several match, with the ids %s", e.Object, strings.Join(e.IDs, ", "))
}

// notFound returns the error of a search without a result.
func notFound(object string) error { return fmt.Errorf("%s: %w", object, ErrNotFound) }

// undecided wraps a 404 that does not prove that the object is gone. It hides the
// 404 from IsNotFound, so that the object stays in the state.
type undecided struct{ error }

// Incident returns the incident of the wrapped error.
func (e undecided) Incident() *Incident { return IncidentOf(e.error) }

// UnknownOutcomeError says that a request may have taken effect, and was not resent.
type UnknownOutcomeError struct {
	Operation, Object string
	Effect, Check     string // the possible effect, and the advice how to find out
	RequestID         string
	Cause             error // why there was no response; nil after an empty one
	Lookup            error // why the lookup failed; nil if it found nothing
}

func (e *UnknownOutcomeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the outcome is unknown: %s. ", e.Effect)
	if e.Cause != nil {
		fmt.Fprintf(&b, "The request %s failed: %s. ", transport.Subject(e.Operation, e.Object), detail(e.Cause))
	} else if e.RequestID != "" {
		fmt.Fprintf(&b, "The response to %s was empty (request id %s). ", transport.Subject(e.Operation, e.Object), e.RequestID)
	}
	if e.Lookup != nil {
		fmt.Fprintf(&b, "A lookup could not find out: %s. ", e.Lookup)
	} else {
		b.WriteString("A lookup does not show it yet. ")
	}
	b.WriteString("It was not sent again. ")
	b.WriteString(cmp.Or(e.Check, "Run apply again: if it exists by then, the error says how to import it."))
	return b.String()
}

func (e *UnknownOutcomeError) Unwrap() error { return e.Cause }

// SecretLostError says that the response with an object's secret was lost.
type SecretLostError struct {
	Operation, Object string
	IDs               []string // the objects with the requested name, usually one
	Cause             error
	Next              string // the next step; "" for the general advice
}

func (e *SecretLostError) Error() string {
	s := fmt.Sprintf("the response to %s was lost, and with it the secret, which the API returns only once; what exists now has the id %s",
		transport.Subject(e.Operation, e.Object), strings.Join(e.IDs, " or "))
	if e.Cause != nil {
		s += ". The request failed: " + detail(e.Cause)
	}
	return s + ". " + cmp.Or(e.Next, "Delete it, or choose another name, and try again.")
}

func (e *SecretLostError) Unwrap() error { return e.Cause }

// detail returns the reason of an error, for a text that names the request already.
func detail(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Detail()
	}
	return err.Error()
}
