package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Causes of failed calls: base_url has the wrong scheme, or the embedded account is broken, for instance
// because its disk is full.
var (
	ErrNotTLS   = errors.New("the server at this address speaks plain HTTP, not HTTPS")
	ErrTLSOnly  = errors.New("the server at this address speaks HTTPS, not plain HTTP")
	ErrEmbedded = errors.New("the embedded account failed")
)

var errResponseTooLarge = errors.New("the response is larger than any that the API sends")

// timeoutError is the time after which an attempt without a response was cancelled.
type timeoutError time.Duration

func (e timeoutError) Error() string {
	return fmt.Sprintf("no complete response within %s", time.Duration(e))
}

// explainFailure replaces errors of net/http by clearer ones.
func explainFailure(err error) error {
	if header, _ := errors.AsType[tls.RecordHeaderError](err); string(header.RecordHeader[:]) == "HTTP/" {
		return ErrNotTLS
	}
	if strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`) { // a TLS alert
		return ErrTLSOnly
	}
	return err
}

// isTLSOnly recognises the response of an HTTPS port to plain HTTP.
func isTLSOnly(status int, body string) bool {
	body = strings.ToLower(body)
	return status == http.StatusBadRequest && strings.Contains(body, "http request") && strings.Contains(body, "https")
}

// isRedirectedToTLS recognises a redirect from http to https of the same host.
func (c *Call) isRedirectedToTLS(resp *http.Response) bool {
	to, err := resp.Location()
	return err == nil && resp.StatusCode/100 == 3 && to.Scheme == "https" && resp.Request.URL.Scheme == "http" && to.Hostname() == resp.Request.URL.Hostname()
}

// isPermanent reports whether every further attempt to send would fail in the same way.
func isPermanent(err error) bool {
	if refused, ok := errors.AsType[*TokenError](err); ok {
		return refused.Permanent
	}
	if notFound, ok := errors.AsType[*net.DNSError](err); ok {
		return notFound.IsNotFound
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	return errors.Is(err, ErrNotTLS)
}

// TokenError reports a missing access token. Its message is shown to users, while the messages of other
// errors of a token source are not, because they may quote the credential.
type TokenError struct {
	Msg string
	// Next is the user's next step; "": that of Options.Advise.
	Next string
	// Permanent means that every further attempt would fail in the same way.
	Permanent bool
}

func newTokenError(err error, s secrets) *TokenError {
	if e, ok := errors.AsType[*TokenError](err); ok {
		return e
	}
	e := &TokenError{Msg: "no access token could be had from the OAuth issuer"}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		e.Msg += ": " + failed.Err.Error()
	}
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return e
	}
	if refused.ErrorCode != "" {
		e.Msg += ": " + Clean(s.redact(refused.ErrorCode+" "+refused.ErrorDescription))
	}
	if refused.Response != nil {
		code := refused.Response.StatusCode
		e.Msg += fmt.Sprintf(" (HTTP %d)", code)
		e.Permanent = code < 500 && code != http.StatusTooManyRequests
	}
	return e
}

func (e *TokenError) Error() string { return e.Msg }

// interruptedError is the error of a caller that gave up or ran out of time.
type interruptedError struct {
	cause    error
	status   int // of the latest response, if the call was waiting to retry
	attempts int
}

// Interrupted returns the error of a caller whose context ended during the wait for another caller's request.
func Interrupted(cause error) error { return &interruptedError{cause: cause, attempts: 1} }

// asInterrupted converts the error of an ended context to an interruptedError.
func (c *Call) asInterrupted(cause error) error {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return &interruptedError{cause, c.Last.status, c.Attempts}
	}
	return cause
}

func (e *interruptedError) Error() string {
	text := "the run was interrupted"
	if errors.Is(e.cause, context.DeadlineExceeded) {
		text = "the time for it is over"
	}
	switch {
	case e.status != 0:
		return fmt.Sprintf("%s, while it waited to retry after HTTP %d", text, e.status)
	case e.attempts == 0:
		return text + ", while it waited to be sent: max_requests_per_minute allowed no request"
	}
	return text + " before the API responded"
}

func (e *interruptedError) Unwrap() error { return e.cause }
