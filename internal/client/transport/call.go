package transport

import (
	"context"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Outcome is what is known of an attempt. The values can be combined to sets.
type Outcome uint

// The outcomes; the package comment says which responses have them.
const (
	// Succeeded: the API has accepted the request, whatever its response holds.
	Succeeded Outcome = 1 << iota
	// Refused: this attempt had no effect, and another one would fail in the same way.
	Refused
	// Busy: the API has responded that it has not processed the request.
	Busy
	// NotSent: the request did not reach the API.
	NotSent
	// Failed: the API has responded, and may have processed the request.
	Failed
	// NoResponse: the API may have processed the request, or still do so.
	NoResponse

	// Unknown are the outcomes after which the request may have taken effect.
	Unknown = Failed | NoResponse
)

// In reports whether an outcome is one of a set.
func (o Outcome) In(set Outcome) bool { return o&set != 0 }

// Attempt is the result of one attempt.
type Attempt struct {
	Outcome Outcome
	Status  int         // of the response; 0 without one
	Header  http.Header // likewise; nil
	Took    time.Duration

	started   time.Time
	cause     error // why there was no response
	notSent   bool  // the request certainly did not reach the API
	isForeign bool  // the response is not the API's own
}

// Call is one request with all its attempts. It is for one goroutine.
type Call struct {
	Object    string    // what the call is about, in messages
	Key       string    // the Idempotency-Key of a keyed operation
	Started   time.Time // of the first attempt
	Attempts  int       // how often the request was sent
	RequestID string    // of the latest attempt
	Last      Attempt   // its result

	t          *Transport
	spec       api.Spec
	request    *request
	secrets    secrets
	wait       time.Duration // before the next attempt
	queued     time.Duration // for which attempts waited for a permit since Started
	limited    int           // attempts that a rate limit refused until a time
	unsent     int           // attempts without a connection
	pages      int           // attempts that got an error page
	isLookup   bool          // it looks up what a create has done
	anyUnknown bool          // the outcome of some attempt was Unknown
	// decode decodes the buffered body of a success, and reports whether that is one that
	// the API can have sent. Nil: the body is not buffered.
	decode func(*http.Response) (isReadable bool)
}

// NewCall prepares a call. req is a pointer to the request struct; NewCall sets
// the account in it and, if the operation takes one, a new Idempotency-Key. No
// message of the call quotes the secrets, which are values of the body.
func (t *Transport) NewCall(s api.Spec, req any, secrets ...string) (*Call, error) {
	c := &Call{t: t, spec: s, Started: t.Hooks.Now()}
	c.secrets.add(secrets...)
	setField(req, "AccountID", t.AccountID)
	if s.Keyed() {
		c.Key = t.Hooks.NewID()
		setField(req, "IdempotencyKey", c.Key)
		c.secrets.add(c.Key)
	}
	var err error
	if c.request, err = encode(t.baseURL, s, req); err != nil {
		return nil, err
	}
	if c.request.object != t.AccountID {
		c.Object = c.request.object
	}
	return c, nil
}

// MayBeProcessed reports whether the API may have processed the request: it has
// accepted it, or the outcome of an attempt is unknown.
func (c *Call) MayBeProcessed() bool { return c.Last.Outcome == Succeeded || c.anyUnknown }

type optionalKey struct{}

// Optional returns a context for GET requests that the caller can do without. They are
// resent only if the API has not processed them.
func Optional(ctx context.Context) context.Context {
	return context.WithValue(ctx, optionalKey{}, true)
}

type lookupKeyType struct{}

// ForLookup returns a context for the GET requests that look up what the create
// with an Idempotency-Key has done. They are sent during an outage too.
func ForLookup(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, lookupKeyType{}, key)
}

func lookupKey(ctx context.Context) (key string, ok bool) {
	key, ok = ctx.Value(lookupKeyType{}).(string)
	return key, ok
}
