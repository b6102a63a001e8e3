package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// The types of a problem, in the vocabulary of Pydantic v2 for invalid input.
const (
	TypeMissing          = "missing"
	TypeString           = "string_type"
	TypeStringTooShort   = "string_too_short"
	TypeStringTooLong    = "string_too_long"
	TypeUUID             = "uuid_parsing"
	TypeInt              = "int_parsing"
	TypeBool             = "bool_type"
	TypeList             = "list_type"
	TypeDict             = "dict_type"
	TypeTooShort         = "too_short"
	TypeTooLong          = "too_long"
	TypeGreaterThanEqual = "greater_than_equal"
	TypeLessThanEqual    = "less_than_equal"
	TypeEnum             = "enum"
	TypeDatetime         = "datetime_from_date_parsing"
	TypePattern          = "string_pattern_mismatch"
	TypeJSONInvalid      = "json_invalid"
	TypeValue            = "value_error"
	TypeExtra            = "extra_forbidden" // only in strict mode

	TypeUnsupportedMedia = "unsupported_media_type"
	TypeNotAuthenticated = "not_authenticated"
	TypeInvalidToken     = "invalid_token"
	TypeTokenExpired     = "token_expired"
	TypeTokenRevoked     = "token_revoked"
	TypePermissionDenied = "permission_denied"
	TypeAccountCancelled = "account_cancelled"
	TypeNotFound         = "not_found"
	TypeMethodNotAllowed = "method_not_allowed"
	TypeConflict         = "conflict"
	TypePayloadTooLarge  = "payload_too_large"
	TypeRateLimited      = "rate_limited"
	TypeRequestTimeout   = "request_timeout"
	TypeInternal         = "internal_error"
	TypeUnavailable      = "unavailable"
	TypeNotRecorded      = "not_recorded" // only of a recording, which lacks the request
	TypeReadOnly         = "read_only"    // only of a proxy that passes on no change
)

// Problem is one element of an error body: a message about one location in the request.
type Problem struct {
	// Loc begins with path, query, header or body; an array index is a decimal.
	Loc  []string `json:"loc" nullable:"false" doc:"Place in the request; the first element is path, query, header or body"`
	Msg  string   `json:"msg"`
	Type string   `json:"type"`

	rule string
}

func (p *Problem) Error() string {
	return strings.Join(p.Loc, ".") + ": " + p.Msg
}

// valuePrefix begins the message of every value_error on the wire, as in Pydantic v2.
const valuePrefix = "Value error, "

func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	if p.Type == TypeValue {
		p.Msg = valuePrefix + p.Msg
	}
	return EncodeJSON(plain(p))
}

// PlainMessage returns the message of a problem without the prefix of the wire format.
func PlainMessage(onWire string) string { return strings.TrimPrefix(onWire, valuePrefix) }

// Invalid returns a value_error, for a Validate method or for Unprocessable.
func Invalid(format string, args ...any) *Problem {
	return &Problem{Msg: fmt.Sprintf(format, args...), Type: TypeValue}
}

// Missing returns the problem of a field required only in this request.
func Missing() *Problem {
	return &Problem{Msg: "Field required", Type: TypeMissing}
}

// Extra returns the problem of an unknown member or parameter in strict mode.
func Extra() *Problem {
	return &Problem{Msg: "Extra inputs are not permitted", Type: TypeExtra}
}

// At sets the location of p and returns p.
func (p *Problem) At(loc ...string) *Problem {
	p.Loc = loc
	return p
}

// InBody sets the location of p to a field of the body and returns p.
func (p *Problem) InBody(field ...string) *Problem {
	return p.At(append([]string{"body"}, field...)...)
}

// Error is an error response: its body, its status code and its headers.
type Error struct {
	Detail []*Problem `json:"detail" nullable:"false"`

	status int
	header http.Header
}

// NewError returns an error with one problem about the request as a whole.
func NewError(status int, typ, format string, args ...any) *Error {
	return &Error{status: status, Detail: []*Problem{{Loc: []string{"header"}, Msg: fmt.Sprintf(format, args...), Type: typ}}}
}

// At sets the location of the error's problems.
func (e *Error) At(loc ...string) *Error {
	for _, p := range e.Detail {
		p.Loc = loc
	}
	return e
}

// With adds a header to the response.
func (e *Error) With(key, value string) *Error {
	if e.header == nil {
		e.header = http.Header{}
	}
	e.header.Set(key, value)
	return e
}

// RetryAfter adds a Retry-After header, in whole seconds.
func (e *Error) RetryAfter(seconds int) *Error {
	return e.With("Retry-After", strconv.Itoa(seconds))
}

func (e *Error) Error() string {
	msgs := make([]string, len(e.Detail))
	for i, p := range e.Detail {
		msgs[i] = p.Error()
	}
	return fmt.Sprintf("%d: %s", e.status, strings.Join(msgs, "; "))
}

// GetStatus returns the status code.
func (e *Error) GetStatus() int { return e.status }

// Unprocessable returns the 422 for invalid input. The last problem contains the number of problems
// beyond MaxProblems.
func Unprocessable(problems ...*Problem) *Error {
	if more := len(problems) - MaxProblems; more > 0 {
		problems = append(slices.Clip(problems[:MaxProblems]), Invalid("%d more problems", more).At("body"))
	}
	return &Error{status: http.StatusUnprocessableEntity, Detail: problems}
}

// Conflict returns the 409 for an existing object, or a state that forbids the request.
func Conflict(format string, args ...any) *Error {
	return NewError(http.StatusConflict, TypeConflict, format, args...).At("body")
}

// PermissionDenied returns the 403 for a caller without the capability, or if c is "" for a caller of
// another account.
func PermissionDenied(c vocab.Capability) *Error {
	if c == "" {
		return Forbidden("the credential is not one of this account")
	}
	return Forbidden("the credential lacks the capability %s", c)
}

// Forbidden returns the 403 for a request that its credential does not permit.
func Forbidden(format string, args ...any) *Error {
	return NewError(http.StatusForbidden, TypePermissionDenied, format, args...).At("header", "Authorization")
}

// MethodNotAllowed returns the 405 for a path with the methods that allow lists.
func MethodNotAllowed(method, allow string) *Error {
	return NewError(http.StatusMethodNotAllowed, TypeMethodNotAllowed, "this path has no %s; see the Allow header", method).At("path").With("Allow", allow)
}

// Unavailable returns the response to a request that may succeed later.
func Unavailable(msg string) *Error {
	return NewError(http.StatusServiceUnavailable, TypeUnavailable, "%s", msg).RetryAfter(1)
}

// Cancelled returns the response to a request after its client disconnected.
func Cancelled() *Error { return Unavailable("the request was cancelled before it was done") }

// Write writes the response.
func (e *Error) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), e.header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	body, _ := EncodeJSON(e) // only strings, so there is no error
	_, _ = w.Write(body)
}

// MaxProblems limits the problems in a response. Only a very long export can contain more.
const MaxProblems = 5000
