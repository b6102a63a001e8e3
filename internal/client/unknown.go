package client

import (
	"cmp"
	"fmt"
	"strings"
)

// UnknownOutcomeError says that a request may have taken effect or not, and that it
// was not sent again because a lookup could not find out.
type UnknownOutcomeError struct {
	Operation, Object string
	// May is what may have happened, Check is where to see it.
	May, Check string
	// Attempts is how often the request was sent before.
	Attempts  int
	RequestID string
	// Cause is why there was no response; nil after an empty one.
	Cause error
	// Look is why the lookup failed; nil if it found nothing.
	Look error
}

// Error implements error.
func (e *UnknownOutcomeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the outcome is unknown: %s. ", e.May)
	if e.Cause != nil {
		fmt.Fprintf(&b, "The request %s failed: %s. ", subject(e.Operation, e.Object), reasonOf(e.Cause))
	} else if e.RequestID != "" {
		fmt.Fprintf(&b, "The response to %s was empty (request id %s). ", subject(e.Operation, e.Object), e.RequestID)
	}
	if e.Look != nil {
		fmt.Fprintf(&b, "A lookup could not find out: %s. ", e.Look)
	} else {
		b.WriteString("A lookup does not show it yet. ")
	}
	b.WriteString("It was not sent again. ")
	b.WriteString(cmp.Or(e.Check, "Run apply again: if it exists by then, the error says how to import it."))
	return b.String()
}

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Cause }

// SecretLostError says that something was created but that its secret was in the
// lost response alone.
type SecretLostError struct {
	Operation, Object string
	// IDs is what exists under the name that was asked for: one, as a rule.
	IDs   []string
	Cause error
}

// Error implements error.
func (e *SecretLostError) Error() string {
	s := fmt.Sprintf("the response to %s was lost, and with it the secret, which the API returns only once; what exists now has the id %s",
		subject(e.Operation, e.Object), strings.Join(e.IDs, " or "))
	if e.Cause != nil {
		s += ". The request failed: " + reasonOf(e.Cause)
	}
	return s + ". Delete it, or choose another name, and try again."
}

// reasonOf is what went wrong with a request that the text names already.
func reasonOf(err error) string {
	if e, ok := err.(*Error); ok {
		return e.reasonAndSource()
	}
	return err.Error()
}

// Unwrap returns the cause.
func (e *SecretLostError) Unwrap() error { return e.Cause }
