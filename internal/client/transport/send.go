package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Call is one request with all its attempts. It is for one goroutine.
type Call struct {
	Object    string    // the object of the call, for messages
	Key       string    // the Idempotency-Key of a keyed operation
	Started   time.Time // of the first attempt
	Attempts  int       // the number of requests sent
	RequestID string    // of the latest attempt
	Last      Attempt   // its result

	AnyUnknown bool // the outcome of some attempt was Unknown

	t         *Transport
	spec      api.Spec
	request   *api.Encoded
	secrets   secrets
	token     string        // of the latest attempt
	wait      time.Duration // before the next attempt
	counted   int           // attempts that RetryMax limits
	pages     int           // attempts whose response was a page or a redirect
	lookupKey string        // of the create that the call looks up, see WithLookupKey
}

// NewCall prepares a call. req is a pointer to the request struct; NewCall sets its account and
// Idempotency-Key. secrets are values of the body that no message may quote.
func (t *Transport) NewCall(s api.Spec, req any, secrets ...string) (*Call, error) {
	c := &Call{t: t, spec: s}
	c.secrets.add(slices.Concat(t.Secrets, secrets)...)
	fields := reflect.ValueOf(req).Elem()
	fields.FieldByName("AccountID").SetString(t.AccountID)
	if s.Keyed() {
		c.Key = t.Hooks.NewID()
		fields.FieldByName("IdempotencyKey").SetString(c.Key)
		c.secrets.add(c.Key)
	}
	var err error
	c.request, err = s.Encode(req)
	return c, err
}

func (c *Call) isExport() bool { return c.spec.Response == reflect.TypeFor[api.CSV]() }

// listsAll reports whether the request is for a whole list that every API offers: each published GET is
// a list. A 404 then means that the API or the account does not exist.
func (c *Call) listsAll() bool {
	for name := range c.request.Query {
		if name != "page" && name != "page_size" {
			return false
		}
	}
	return c.spec.Method == http.MethodGet && !c.spec.Lifecycle()
}

func (c *Call) isLookup() bool { return c.lookupKey != "" }

// MayBeProcessed reports whether the API may have processed the request.
func (c *Call) MayBeProcessed() bool { return c.Last.Outcome == Succeeded || c.AnyUnknown }

// IsReplayed reports whether the API replayed the response to an earlier attempt.
func (c *Call) IsReplayed() bool { return c.Last.header.Get(api.IdempotencyReplayedHeader) == "true" }

type lookupKey struct{}

// WithLookupKey returns a context for requests that look up the object of a create. They send the create's
// Idempotency-Key, so that an API which honours keys says so in a header, and are sent during an outage too.
func WithLookupKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, lookupKey{}, key)
}

// Do sends one request and decodes its response.
func Do[Req, Resp any](ctx context.Context, t *Transport, op api.Operation[Req, Resp], req *Req) (*Resp, error) {
	c, err := t.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	return Send[Resp](ctx, c)
}

// Send sends the request of a call and decodes its response, which may be empty.
func Send[Resp any](ctx context.Context, c *Call) (*Resp, error) {
	resp, err := c.send(ctx)
	if err != nil {
		return nil, err
	}
	v, body := new(Resp), c.Last.body
	isList := reflect.TypeFor[Resp]().Kind() == reflect.Slice
	if c.spec.Response == noContent || isEmptyJSON(body) && !isList { // [] is an empty response too, unless the response is a list
		return v, nil
	}
	if err := decode(body, v); err != nil {
		e := c.errorFrom(resp)
		e.Err = c.mismatch(resp, err)
		return nil, e
	}
	c.t.Confirmed.Store(true)
	return v, nil
}

var noContent = reflect.TypeFor[api.NoContent]()

// Stream sends a request for CSV. The caller must close the response, and keep ctx alive while reading it.
func Stream[Req any](ctx context.Context, t *Transport, op api.Operation[Req, api.CSV], req *Req) (io.ReadCloser, error) {
	c, err := t.NewCall(op.Spec, req)
	if err != nil {
		return nil, err
	}
	resp, err := c.send(ctx)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// send sends the request until it succeeds or no retry is safe, and returns a successful response. Its
// error is an *Error.
func (c *Call) send(ctx context.Context) (*http.Response, error) {
	if c.spec.Changes() {
		c.t.Changed.Store(true)
	}
	c.lookupKey, _ = ctx.Value(lookupKey{}).(string)
	err := c.awaitRate(ctx)
	if err == nil && !c.isLookup() {
		err = c.t.outage.allow(c.t.Hooks.Now())
	}
	if err != nil {
		c.Last = Attempt{Outcome: NotSent, notSent: true}
		return nil, c.failed(err)
	}
	if c.Attempts == 0 {
		c.Started = c.t.Hooks.Now()
	}
	resp, err := c.sendUntilDone(ctx)
	switch {
	case err != nil:
		return nil, c.failed(err)
	case c.Last.Outcome == Succeeded:
		return resp, nil
	case isSuccess(resp): // but a server in front of the API damaged the response
		e := c.errorFrom(resp)
		e.Err = c.mismatch(resp, nil)
		return nil, e
	}
	return nil, c.refused(resp)
}

// awaitRate waits until RequestsPerMinute allows an attempt, at most until the caller's deadline.
func (c *Call) awaitRate(ctx context.Context) error {
	if c.t.rate == nil || c.t.rate.Wait(ctx) == nil {
		return nil
	}
	return cmp.Or(ctx.Err(), context.DeadlineExceeded)
}

// failed returns the error of a call without a response.
func (c *Call) failed(cause error) *Error {
	e := &Error{
		Operation: c.spec.ID, Object: c.Object, RequestID: c.RequestID,
		Err:     c.asInterrupted(c.secrets.redactError(cause)),
		notSent: c.Last.notSent, incident: c.t.incidents.of(cause),
	}
	if missing, ok := errors.AsType[*TokenError](e.Err); ok {
		e.Advice = cmp.Or(missing.Next, c.advise(0))
	}
	return e
}

func (c *Call) advise(status int) string {
	if c.t.Advise == nil {
		return ""
	}
	return c.t.Advise(status, c.token)
}

// refused returns the error of an unsuccessful response.
func (c *Call) refused(resp *http.Response) *Error {
	e, body := c.errorFrom(resp), c.Last.body
	e.Problems = problemParser{c.secrets}.parse(body)
	if len(e.Problems) == 0 && !isEmptyJSON(body) {
		e.Raw = clean(c.secrets.redact(string(body)), maxExcerpt)
	}
	switch {
	case c.embeddedFailed():
		e.Err, e.incident = ErrEmbedded, &c.t.incidents.unreachable
	case e.Status == http.StatusUnauthorized:
		e.Advice, e.incident = c.advise(e.Status), &c.t.incidents.credential
	case e.Status == http.StatusForbidden:
		e.Advice = c.advise(e.Status)
	case (e.IsMissing() || e.Unsupported()) && c.listsAll():
		e.incident = &c.t.incidents.noAPI
	case isTLSOnly(e.Status, e.Raw), c.isRedirectedToTLS(resp):
		e.Err, e.incident = ErrTLSOnly, &c.t.incidents.unreachable
	}
	return e
}

// errorFrom returns the error for a response, without a reason.
func (c *Call) errorFrom(resp *http.Response) *Error {
	return &Error{
		Status:    resp.StatusCode,
		RequestID: clean(c.secrets.redact(cmp.Or(resp.Header.Get("X-Request-Id"), c.RequestID)), 128),
		Operation: c.spec.ID,
		Object:    c.Object,
		noObject:  len(c.spec.PathParameters()) < 2 || c.isPage(resp),
	}
}

// isEmptyJSON reports whether a body is empty or contains an empty JSON value.
func isEmptyJSON(body []byte) bool {
	switch string(bytes.TrimSpace(body)) {
	case "", "null", "{}", "[]":
		return true
	}
	return false
}
