package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Outcome is what is known of an attempt.
type Outcome int

const (
	// Final: the API has processed or refused the request, or another attempt
	// would fail in the same way.
	Final Outcome = iota
	// NotProcessed: the API has not processed the request, so that resending it is
	// safe.
	NotProcessed
	// Unknown: the API may have processed the request.
	Unknown
)

// Attempt is the result of one attempt.
type Attempt struct {
	Outcome Outcome
	// Status is the HTTP status code; 0 without a response.
	Status int
	// Accepted reports a success, readable or not.
	Accepted bool
	// Replayed reports that the response is that of an earlier attempt, Resumed
	// that its object was created by an interrupted create of an earlier run.
	Replayed, Resumed bool

	cause   error // why there was no response
	notSent bool
}

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

// failed returns the error of a call without a response.
func (c *Call) failed(cause error) *Error {
	return &Error{
		Operation: c.spec.ID, Object: c.Object, RequestID: c.RequestID,
		Err:     asInterrupted(c.secrets.redactError(cause), c.Last.Status),
		notSent: c.Last.notSent, incident: c.t.incidentOf(cause),
	}
}

// incidentOf classifies the cause of a call without a response. A caller that
// gave up says nothing about the connection.
func (t *Transport) incidentOf(cause error) *Incident {
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return nil
	}
	if _, ok := errors.AsType[*tokenError](cause); ok {
		return &t.incidents.credential
	}
	return &t.incidents.unreachable
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
