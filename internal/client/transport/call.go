package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Call is one request with all its attempts. It is for one goroutine. Its fields
// are for reading only.
type Call struct {
	// Object is what the call is about, in messages.
	Object string
	// Key is the Idempotency-Key of a keyed operation.
	Key     string
	Started time.Time
	// Attempts is how often the request was sent, RequestID the id of the latest
	// attempt, Last its result.
	Attempts  int
	RequestID string
	Last      Attempt

	t          *Transport
	spec       api.Spec
	request    *request
	secrets    secrets
	wait       time.Duration // before the next attempt
	anyUnknown bool          // the outcome of some attempt was Unknown
}

// Option configures a call.
type Option func(*Call)

// About sets what the call is about, for messages.
func About(object string) Option {
	return func(c *Call) { c.Object = object }
}

// Redacting keeps secret values of the body out of messages.
func Redacting(values ...string) Option {
	return func(c *Call) { c.secrets.add(values...) }
}

// NewCall prepares a call. req is a pointer to the request struct; NewCall sets
// the account in it and, if the operation takes one, a new Idempotency-Key.
func (t *Transport) NewCall(s api.Spec, req any, opts ...Option) (*Call, error) {
	c := &Call{t: t, spec: s, Started: t.hooks.Now()}
	for _, opt := range opts {
		opt(c)
	}
	setField(req, "AccountID", t.accountID)
	if s.Keyed() {
		c.Key = t.hooks.NewID()
		setField(req, "IdempotencyKey", c.Key)
		c.secrets.add(c.Key)
	}
	var err error
	if c.request, err = encode(t.baseURL, s, req); err != nil {
		return nil, err
	}
	if c.Object == "" && c.request.object != t.accountID {
		c.Object = c.request.object
	}
	return c, nil
}

// MayBeProcessed reports whether the API may have processed the request: it has
// accepted it, or the outcome of an attempt is unknown.
func (c *Call) MayBeProcessed() bool { return c.Last.Accepted || c.anyUnknown }

// AwaitRetry waits for the time of another attempt, and reports whether one is
// allowed: the outcome of the latest one is unknown, and neither the retry policy
// nor the caller has ended the call.
func (c *Call) AwaitRetry(ctx context.Context) bool {
	return c.Last.Outcome == Unknown && c.mayRetry(ctx, 0) && c.t.hooks.Sleep(ctx, c.wait) == nil
}

// Pause waits as long as before another attempt.
func (c *Call) Pause(ctx context.Context) error {
	return c.t.hooks.Sleep(ctx, c.t.hooks.Jitter(c.t.retry.ceiling(c.Attempts)))
}

type lookupKeyType struct{}

// ForLookup returns a context for the GET requests that look up what the create
// with an Idempotency-Key has done. They carry the key, by which the API learns
// that the caller knows of the object, and they are sent during an outage too.
func ForLookup(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, lookupKeyType{}, key)
}

func lookupKey(ctx context.Context) (key string, ok bool) {
	key, ok = ctx.Value(lookupKeyType{}).(string)
	return key, ok
}

// do sends the request, as often as is safe, and returns a successful response.
// Its error is an *Error.
func (c *Call) do(ctx context.Context) (*http.Response, error) {
	if _, lookup := lookupKey(ctx); !lookup {
		if err := c.t.outage.allow(c.t.hooks.Now()); err != nil {
			c.Last = Attempt{Outcome: c.Last.Outcome, notSent: true}
			return nil, c.failed(err)
		}
	}
	resp, err := c.attempt(ctx)
	for c.evaluate(ctx, resp, err) {
		if err := c.t.hooks.Sleep(ctx, c.wait); err != nil {
			return nil, c.failed(err)
		}
		resp, err = c.attempt(ctx)
	}
	if err != nil {
		return nil, c.failed(err)
	}
	c.readIdempotency(resp)
	if !isSuccess(resp) {
		return nil, c.refused(resp)
	}
	c.Last.Accepted = true
	return resp, nil
}

// readIdempotency reads the headers on idempotency. That an API sends
// Idempotency-Replayed proves that it honours Idempotency-Keys.
func (c *Call) readIdempotency(resp *http.Response) {
	c.Last.Resumed = resp.Header.Get(api.IdempotencyResumedHeader) == "true"
	if !c.spec.Keyed() || len(resp.Header.Values(api.IdempotencyReplayedHeader)) == 0 {
		return
	}
	c.t.honoursKeys.Store(true)
	c.Last.Replayed = resp.Header.Get(api.IdempotencyReplayedHeader) == "true"
}

// failed returns the error of a call without a response.
func (c *Call) failed(cause error) *Error {
	return &Error{
		Operation: c.spec.ID, Object: c.Object, RequestID: c.RequestID,
		Err:     asInterrupted(c.secrets.redactError(cause), c.Last.Status),
		notSent: c.Last.notSent, incident: c.t.incidentOf(cause),
	}
}

// refused returns the error of a response that is not a success.
func (c *Call) refused(resp *http.Response) *Error {
	e := c.errorFrom(resp)
	body, _ := readAll(resp)
	e.Problems = problemParser{c.secrets}.parse(body)
	if len(e.Problems) == 0 && !isEmptyJSON(body) {
		e.Raw = clean(c.secrets.redact(string(body)), maxExcerpt)
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		e.incident = &c.t.incidents.credential
	case (e.Status == http.StatusNotFound || e.Unsupported()) && c.request.listsAll(c.spec):
		e.incident = &c.t.incidents.noAPI
	case len(e.Problems) == 0 && isTLSOnly(e.Status, e.Raw):
		e.Err, e.incident = ErrTLSOnly, &c.t.incidents.unreachable
	}
	return e
}

// errorFrom returns the error of a response, without its reason.
func (c *Call) errorFrom(resp *http.Response) *Error {
	id := resp.Header.Get("X-Request-Id")
	if id == "" {
		id = c.RequestID
	}
	return &Error{
		Status:     resp.StatusCode,
		RequestID:  clean(c.secrets.redact(id), 128),
		Operation:  c.spec.ID,
		Object:     c.Object,
		collection: !namesObject(c.spec),
	}
}

// unreadable returns the error of a success that is not what the contract says.
// The response may have a secret, so none of it is quoted.
func (c *Call) unreadable(resp *http.Response, reason string) *Error {
	e := c.errorFrom(resp)
	e.Err = errors.New(reason)
	return e
}
