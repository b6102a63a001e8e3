package client

import (
	"fmt"
	"strings"
)

// UnknownOutcomeError says that a request may have been done or not, and that it
// was not sent again because the API's lists can't tell.
type UnknownOutcomeError struct {
	Operation, Object string
	// May is what may have happened, Check is where to see it.
	May, Check string
	// Attempts is how often the request was sent before.
	Attempts  int
	RequestID string
	// Cause is what came instead of an answer; nil where an answer came that says
	// nothing.
	Cause error
	// Look is why the lists can't tell; nil where they show nothing.
	Look error
}

// Error implements error.
func (e *UnknownOutcomeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the outcome is unknown, %s", subject(e.Operation, e.Object), e.May)
	if e.Cause != nil {
		fmt.Fprintf(&b, " (%s)", e.Cause)
	} else if e.RequestID != "" {
		fmt.Fprintf(&b, " (the API's answer was empty, request id %s)", e.RequestID)
	}
	if e.Look != nil {
		fmt.Fprintf(&b, "; a look at what exists can't tell: %s", e.Look)
	} else {
		b.WriteString("; a look at what exists does not show it yet")
	}
	b.WriteString(". It was not sent again.")
	if e.Check != "" {
		b.WriteString(" " + e.Check)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Cause }

// SecretLostError says that something was created but that its secret, which
// only the lost answer held, can't be had any more.
type SecretLostError struct {
	Operation, Object string
	// IDs is what exists under the name that was asked for: one, as a rule.
	IDs   []string
	Cause error
}

// Error implements error.
func (e *SecretLostError) Error() string {
	s := fmt.Sprintf("%s: the API's answer was lost, and with it the secret that it tells only once; what exists now has the id %s",
		subject(e.Operation, e.Object), strings.Join(e.IDs, " or "))
	if e.Cause != nil {
		s += fmt.Sprintf(" (%s)", e.Cause)
	}
	return s + ". Delete it, or choose another name, and try again."
}

// Unwrap returns the cause.
func (e *SecretLostError) Unwrap() error { return e.Cause }
