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
	// lookupGrace limits a lookup after the caller's context ended.
	lookupGrace = 10 * time.Second
	// paidLookups is the number of searches before a paid create counts as not done.
	paidLookups = 3
	// slowAttempt is the duration from which an attempt without a result may still be
	// executed later. An attempt that ended earlier was broken off.
	slowAttempt = 10 * time.Second
	// clockSlack allows for times in whole seconds.
	clockSlack = 2 * time.Second
)

// errNoList is the reason why a lookup is impossible: a change of plan, or feedback.
var errNoList = errors.New("no operation of the API lists such requests")

// createSpec describes a create beyond its contract.
type createSpec[T any] struct {
	facts           // only secret and paid
	object string   // names the created object in messages
	redact []string // secret values of the request's body
	// id returns the id in a response, or "" without an object. Nil: every response is
	// complete.
	id func(*T) string
	// hasSecret reports whether a response contains the secret of a secret create.
	hasSecret func(*T) bool
	// find searches the lists for the requested object. Nil: there is no list.
	find func(context.Context) ([]T, error)
	// same reports whether a found object is as requested. Nil: every object is.
	same func(*T) bool
	// createdAt returns the creation time, so that a lookup ignores objects older than the
	// request. Nil: it ignores none. A create with a secret requires createdAt.
	createdAt func(*T) string
	// invalidate, if set, is called at the end, even after an error.
	invalidate func()
	// effect names the possible effect of a request with unknown outcome, check says how to
	// find out.
	effect, check string
}

// create sends a keyed request until its outcome is known. If the API lacks the operation, the error is
// ErrCreateUnsupported. With a SecretLostError it returns the object if this request certainly created it.
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
		case cause == nil:
			cause = c.differs(op.Spec, "the response lacks the created object or a part of it (request id %s)", call.RequestID)
		// The effect on a broken embedded account can only be read once the account is repaired.
		case errors.Is(cause, ErrEmbedded):
			return nil, call, cause
		case !call.MayBeProcessed():
			return nil, call, c.orAbsent(ctx, op.Spec, cause, ErrCreateUnsupported, spec.object)
		}
		// After a success without the object, only a replay does no harm: the API reported the
		// create as done, even if the lookup finds no object.
		mayResend := call.AwaitRetry(ctx) && (call.Last.Outcome.In(transport.Unknown) || c.transport.HonoursKeys.Load())
		found, lookupErr := spec.lookUp(ctx, c, call, mayResend)
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

func createIn[Req, T any](ctx context.Context, k *Objects[T], op api.Operation[Req, T], req *Req, spec createSpec[T]) (*T, error) {
	spec.id, spec.invalidate = k.cache.ID, k.cache.Invalidate
	v, _, err := create(ctx, k.client, op, req, spec)
	return v, err
}

// decision is the next step after an attempt that may have created the object, but did
// not return it.
type decision int

const (
	fail   decision = iota
	resend          // with the same Idempotency-Key
	take            // the lookup found the created object
)

// facts are the conditions of a decision other than the result of the lookup.
type facts struct {
	secret bool // the response contains a secret that no lookup returns
	paid   bool // the request spends money
	retry  bool // another attempt is allowed
	keys   bool // the API has proved that it honours Idempotency-Keys
	slow   bool // the API may still execute the latest attempt
}

// decide implements the table of the package comment.
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

// lookUp returns the objects that the request may have created. A search continues for a while after
// the end of the caller's context, because otherwise nobody would manage the object.
func (spec *createSpec[T]) lookUp(caller context.Context, c *Client, call *transport.Call, mayResend bool) ([]T, error) {
	ctx, cancel := withGrace(caller, lookupGrace)
	defer cancel()
	ctx = transport.WithLookupKey(ctx, call.Key)
	if spec.find == nil {
		if mayResend && !spec.paid {
			_ = c.ping(ctx) // its response says whether the API honours keys
		}
		return nil, errNoList
	}
	find := func() ([]T, error) {
		found, err := spec.find(ctx)
		return slices.DeleteFunc(found, func(v T) bool { return !spec.mayBeCreated(c, call, &v) }), err
	}
	if spec.paid && call.Last.Outcome == transport.Succeeded && !mayResend {
		return untilListed(caller, c, find)
	}
	lookups := 1
	if spec.paid {
		lookups = paidLookups
	}
	for {
		found, err := find()
		if lookups--; err != nil || len(found) > 0 || lookups == 0 {
			return found, err
		}
		if err := call.Pause(ctx); err != nil {
			return nil, err
		}
	}
}

// untilListed returns the objects that a paid request created according to its response, once the lists of the API show
// them. If it returned before, the next apply would pay again.
func untilListed[T any](ctx context.Context, c *Client, find func() ([]T, error)) ([]T, error) {
	var found []T
	_, err := WaitFor(ctx, c,
		func(context.Context) (_ *T, err error) {
			if found, err = find(); err != nil || len(found) > 0 {
				return nil, err
			}
			return nil, notFound("the new object")
		},
		func(*T) (bool, error) { return true, nil })
	if IsNotFound(err) {
		err = nil
	}
	return found, err
}

// withGrace returns a context that ends the grace period after its parent.
func withGrace(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// mayBeCreated reports whether a call may have created an object. The object must be as
// requested. An object older than the request belongs to somebody else, and one with a secret
// that this client received to another resource of the same configuration.
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

// isComplete reports whether a response contains the created object.
func (spec *createSpec[T]) isComplete(v *T) bool {
	if spec.id == nil {
		return true
	}
	id := spec.id(v)
	return id != "" && id != "0" && lacks(v) == "" && (!spec.secret || spec.hasSecret(v))
}
