package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// verdict is what is known of an attempt.
type verdict int

const (
	// final: the API has answered, or can't be asked.
	final verdict = iota
	// unprocessed: nothing was done; sending again is safe for every request.
	unprocessed
	// lost: it may have been done, and the answer that would say so is missing.
	lost
)

// exchange is one logical call with all its attempts. It travels in the
// requests' context and belongs to the goroutine of the call.
type exchange struct {
	c       *Client
	spec    api.Spec
	object  string
	key     string // the Idempotency-Key of a keyed operation
	request *encoded
	// secrets are kept out of every message: the token, the Idempotency-Key and
	// secret values of the body.
	secrets []string

	begun     time.Time
	tries     int
	wait      time.Duration // before the next attempt
	attempt   *attempt
	requestID string // that the latest attempt was sent with

	cause    error // why the latest attempt got no response
	latest   verdict
	lost     bool // the verdict of some attempt was lost
	accepted bool // the latest answer was a success, readable or not
	replayed bool // the latest answer was kept from an earlier attempt
	resumed  bool // the object of the latest answer is of an interrupted request
	status   int  // of the latest answer; 0: none came
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

// option tells what a call's request struct does not.
type option func(*exchange)

// about names the object of a call in messages.
func about(object string) option {
	return func(x *exchange) { x.object = object }
}

// hiding keeps secret values of the body out of messages.
func hiding(secrets ...string) option {
	return func(x *exchange) { x.secrets = append(x.secrets, secrets...) }
}

// begin prepares a call. req is a pointer to the request struct; the account
// and, where the operation takes one, a new Idempotency-Key are set in it.
func (c *Client) begin(s api.Spec, req any, opts ...option) (*exchange, error) {
	x := &exchange{c: c, spec: s, begun: c.hooks.Now()}
	for _, opt := range opts {
		opt(x)
	}
	setField(req, "AccountID", c.accountID)
	if s.Keyed() {
		x.key = c.hooks.NewID()
		setField(req, "IdempotencyKey", x.key)
		x.secrets = append(x.secrets, x.key)
	}
	var err error
	if x.request, err = encode(c.base, s, req); err != nil {
		return nil, err
	}
	if x.object == "" && x.request.object != c.accountID {
		x.object = x.request.object
	}
	return x, nil
}

// do sends the request, as often as is safe, and returns a successful response.
// Its error is an *Error.
func (x *exchange) do(ctx context.Context) (*http.Response, error) {
	x.accepted, x.replayed, x.resumed, x.status = false, false, false, 0
	if err := x.c.outage.check(x.c.hooks.Now()); err != nil && !insists(ctx) {
		x.attempt = &attempt{refused: true}
		return nil, x.failed(err)
	}
	var body any // an untyped nil where there is none, as retryablehttp asks
	if x.request.body != nil {
		body = x.request.body
	}
	req, err := retryablehttp.NewRequestWithContext(context.WithValue(ctx, exchangeKey{}, x), x.spec.Method, x.request.url, body)
	if err != nil {
		return nil, x.failed(errors.New("the request's URL is malformed"))
	}
	req.Header = x.request.header.Clone()
	if key, ok := ctx.Value(outcomeKey{}).(string); ok && x.key == "" {
		req.Header.Set(api.IdempotencyLookupHeader, key)
		x.secrets = append(x.secrets, key)
	}
	resp, err := x.c.http.Do(req)
	if err != nil {
		return nil, x.failed(err)
	}
	x.noteReplay(resp)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		return nil, x.refused(resp)
	}
	x.accepted = true
	return resp, nil
}

// noteReplay notes that an answer was kept from an earlier attempt. That an API
// sends the header proves that it honours the Idempotency-Key.
func (x *exchange) noteReplay(resp *http.Response) {
	x.resumed = resp.Header.Get(api.IdempotencyResumedHeader) == "true"
	if !x.spec.Keyed() || len(resp.Header.Values(api.IdempotencyReplayedHeader)) == 0 {
		return
	}
	x.c.keys.prove()
	x.replayed = resp.Header.Get(api.IdempotencyReplayedHeader) == "true"
}

// readAll returns the body of an answer, which wire has bounded.
func readAll(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	var b bytes.Buffer
	_, err := b.ReadFrom(resp.Body)
	return b.Bytes(), err
}

// failed is the error of a call without a response.
func (x *exchange) failed(cause error) *Error {
	return &Error{
		Operation: x.spec.ID, Object: x.object, RequestID: x.requestID,
		Err: givenUp(x.plain(cause), x.status), unsent: x.attempt.unsent(), incident: x.c.incidentOf(cause),
	}
}

// givenUpError says that the caller gave up: the run was interrupted, or the time
// for the operation is over.
type givenUpError struct {
	cause error
	// status is that of the latest response, if the call was waiting to retry.
	status int
}

// givenUp returns cause as a givenUpError if it is one.
func givenUp(cause error, status int) error {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return &givenUpError{cause, status}
	}
	return cause
}

func isGivenUp(err error) bool {
	_, ok := errors.AsType[*givenUpError](err)
	return ok
}

// Error implements error.
func (e *givenUpError) Error() string {
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
func (e *givenUpError) Unwrap() error { return e.cause }

// outcomeKey has the Idempotency-Key of the create whose outcome the GET requests of a
// context look up. The API learns from it that its response is not missed any more.
type outcomeKey struct{}

type insistKey struct{}

// insist lets the calls of a context make an attempt during an outage too: a look
// at what a lost request has done is worth one.
func insist(ctx context.Context) context.Context { return context.WithValue(ctx, insistKey{}, true) }

func insists(ctx context.Context) bool { return ctx.Value(insistKey{}) != nil }
