package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

const (
	// lookupGrace is how long a lookup may take after the caller has given up.
	lookupGrace = 10 * time.Second
	// paidLookups is how often a list is searched before a paid create counts as
	// not done.
	paidLookups = 3
	// slowAttempt is how long an attempt without a result takes if it is still executed
	// somewhere, or waits for it. One that ends earlier was broken off.
	slowAttempt = 10 * time.Second
	// clockSlack allows for an API whose times have whole seconds.
	clockSlack = 2 * time.Second
)

var errNoList = errors.New("this API has no list of such objects")

// createSpec describes a create beyond its contract.
type createSpec[T any] struct {
	facts           // those of secret and paid that apply
	object string   // names what is created, in messages
	redact []string // secret values of the request's body
	// id returns the id in a response, or "" if it has none. Nil: every response is
	// complete.
	id func(*T) string
	// find searches the lists for what was requested. Nil: there is no list.
	find func(context.Context) ([]T, error)
	// same reports whether an object that was found is as requested. Nil: each is.
	same func(*T) bool
	// createdAt returns when an object was created, so that a lookup ignores objects
	// that are older than the request. Nil: it ignores none; a secret needs it.
	createdAt func(*T) string
	// invalidate is called if something has been created, or may have been.
	invalidate func()
	// effect is what may have happened if the outcome stays unknown, check where to
	// see it.
	effect, check string
}

// create sends a keyed request until its outcome is known. If the API lacks the operation, the error is
// ErrCreateUnsupported. With a SecretLostError it
// returns the object too, if this request has certainly created it.
func create[Req, T any](ctx context.Context, c *Client, op api.Operation[Req, T], req *Req, spec createSpec[T]) (*T, *transport.Call, error) {
	o := c.operation(op.Spec)
	if o.isAbsent() {
		return nil, nil, unsupported(ErrCreateUnsupported, op.Spec, spec.object)
	}
	call, err := c.transport.NewCall(op.Spec, req, spec.redact...)
	if err != nil {
		return nil, nil, err
	}
	call.Object = spec.object
	if spec.invalidate != nil {
		defer spec.invalidate()
	}
	for {
		v, cause := transport.Send[T](ctx, call)
		if cause == nil {
			o.present.Store(true)
		}
		switch {
		case cause == nil && spec.isComplete(v):
			if spec.secret {
				c.known.Store(spec.id(v), true)
			}
			return v, call, nil
		// What a broken embedded account has done shows once it is repaired.
		case errors.Is(cause, ErrEmbedded):
			return nil, call, cause
		case !call.MayBeProcessed():
			return nil, call, c.orAbsent(ctx, op.Spec, cause, ErrCreateUnsupported, spec.object)
		}
		// After a success without the object, only a replay does no harm. That the lookup finds
		// no object is no reason to repeat what the API calls done.
		mayResend := call.AwaitRetry(ctx) && (call.Last.Outcome.In(transport.Unknown) || c.transport.HonoursKeys.Load())
		found, lookupErr := spec.lookUp(ctx, c, call)
		now := spec.facts
		now.retry, now.keys = mayResend, c.transport.HonoursKeys.Load()
		now.slow = call.Last.Outcome.In(transport.Unknown) && call.Last.Took >= slowAttempt
		switch now.decide(len(found), lookupErr) {
		case resend:
			continue
		case take:
			return &found[0], call, nil
		}
		if spec.secret && len(found) > 0 {
			lost := &SecretLostError{Operation: op.ID, Object: call.Object, IDs: idsOf(found, spec.id), Cause: cause}
			if len(found) == 1 && spec.isNew(c, call, &found[0]) {
				return &found[0], call, lost
			}
			return nil, call, lost
		}
		if len(found) > 0 {
			lookupErr = &AmbiguousError{Object: spec.object, IDs: idsOf(found, spec.id)}
		}
		after := call.Last.Outcome
		if lookupErr != nil || after.In(transport.NoResponse|transport.NotSent|transport.Succeeded) || (spec.paid || spec.secret) && after != transport.Refused {
			return nil, call, &UnknownOutcomeError{
				Operation: op.ID, Object: call.Object,
				Effect: cmp.Or(spec.effect, "it may have been created"), Check: spec.check,
				RequestID: call.RequestID, Cause: cause, Lookup: lookupErr,
			}
		}
		return nil, call, cause
	}
}

func createIn[Req, T any](ctx context.Context, k *Kind[T], op api.Operation[Req, T], req *Req, spec createSpec[T]) (*T, error) {
	spec.id, spec.invalidate = k.cache.ID, k.cache.Invalidate
	v, _, err := create(ctx, k.client, op, req, spec)
	return v, err
}

// decision is what follows an attempt that may have created the object, and has not
// returned it.
type decision int

const (
	fail   decision = iota
	resend          // with the same Idempotency-Key
	take            // the object that the lookup found is what was created
)

// facts are what is known beside the result of the lookup.
type facts struct {
	secret bool // the response has a secret that no lookup returns
	paid   bool // the request spends money
	retry  bool // another attempt is allowed
	keys   bool // the API has proved that it honours Idempotency-Keys
	slow   bool // the latest attempt was so long in flight that it may still arrive
}

// decide is the table of the package comment.
func (f facts) decide(found int, lookupErr error) decision {
	switch {
	case found == 1 && !f.secret:
		return take
	case !f.retry:
		return fail
	case found == 0 && lookupErr == nil:
		if f.slow && (f.paid || f.secret) && !f.keys {
			return fail
		}
		return resend
	case f.keys && !f.paid:
		return resend
	}
	return fail
}

// lookUp returns the objects that the request may have created, even if the caller has
// given up: otherwise nobody would manage the object.
func (spec *createSpec[T]) lookUp(ctx context.Context, c *Client, call *transport.Call) ([]T, error) {
	if spec.find == nil {
		return nil, errNoList
	}
	ctx, cancel := withGrace(ctx, lookupGrace)
	defer cancel()
	ctx = transport.WithLookupKey(ctx, call.Key)
	lookups := 1
	if spec.paid {
		lookups = paidLookups
	}
	for {
		found, err := spec.find(ctx)
		found = slices.DeleteFunc(found, func(v T) bool { return !spec.mayBeCreated(c, call, &v) })
		if lookups--; err != nil || len(found) > 0 || lookups == 0 {
			return found, err
		}
		if err := call.Pause(ctx); err != nil {
			return nil, err
		}
	}
}

// withGrace returns a context that ends some time after another one.
func withGrace(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// mayBeCreated reports whether a call may have created an object: it is as requested, and
// it is neither older than the request nor one whose secret this client has. Such an object
// belongs to somebody else, often to another resource of the same configuration.
func (spec *createSpec[T]) mayBeCreated(c *Client, call *transport.Call, v *T) bool {
	if spec.same != nil && !spec.same(v) {
		return false
	}
	if spec.createdAt == nil {
		return true
	}
	_, isKnown := c.known.Load(spec.id(v))
	age, ok := c.age(spec.createdAt(v), call.Started)
	return !isKnown && (!ok || age <= clockSlack)
}

// isNew reports whether an object is certainly not older than the request.
func (spec *createSpec[T]) isNew(c *Client, call *transport.Call, v *T) bool {
	age, ok := c.age(spec.createdAt(v), call.Started)
	return ok && age <= clockSlack
}

// age returns how old an object was when a request was sent first, by the API's clock.
func (c *Client) age(createdAt string, started time.Time) (age time.Duration, ok bool) {
	offset, known := c.transport.ClockOffset()
	created, err := time.Parse(time.RFC3339, createdAt)
	return started.Add(offset).Sub(created), known && err == nil
}

// isComplete reports whether a response has what was created.
func (spec *createSpec[T]) isComplete(v *T) bool {
	if spec.id == nil {
		return true
	}
	id := spec.id(v)
	return id != "" && id != "0"
}
