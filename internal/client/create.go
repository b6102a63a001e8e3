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
type createSpec[Resp any] struct {
	object string   // names what is created, in messages
	redact []string // secret values of the request's body
	facts  facts    // those of secret, paid and once that apply
	// id returns the id in a response, or "" if it has none. Nil: every response is
	// complete.
	id func(*Resp) string
	// find searches the lists for what was requested. Nil: there is no list.
	find func(context.Context) ([]Resp, error)
	// createdAt returns when an object was created, so that a lookup ignores objects
	// that are older than the request. Nil: it ignores none; a secret needs it.
	createdAt func(*Resp) string
	// invalidate is called if something may have been created that is not known.
	invalidate func()
	// effect is what may have happened if the outcome stays unknown, check where to
	// see it.
	effect, check string
}

// createOutcome is the result of a create.
type createOutcome[Resp any] struct {
	object    *Resp
	replayed  bool   // the response is that of an earlier attempt
	requestID string // of the response
}

// create sends a keyed request until its outcome is known. The package comment
// describes how, and decisionTable decides. With a SecretLostError it returns the object
// too, if this request has certainly created it.
func create[Req, Resp any](ctx context.Context, c *core, op api.Operation[Req, Resp], req *Req, spec createSpec[Resp]) (*createOutcome[Resp], error) {
	call, err := c.transport.NewCall(op.Spec, req, spec.redact...)
	if err != nil {
		return nil, err
	}
	call.Object = cmp.Or(spec.object, call.Object)
	for {
		resp, cause := transport.Send[Resp](ctx, call)
		if cause == nil && spec.isComplete(resp) {
			if spec.facts&secret != 0 {
				c.known.Store(spec.id(resp), true)
			}
			header := call.Last.Header
			return &createOutcome[Resp]{
				object:   resp,
				replayed: header.Get(api.IdempotencyReplayedHeader) == "true", requestID: call.RequestID,
			}, nil
		}
		// What a broken embedded account has done shows once it is repaired: the next plan
		// reports its creates that are not in the state.
		if cause != nil && (!call.MayBeProcessed() || errors.Is(cause, ErrEmbedded)) {
			return nil, cause
		}
		decision, found, lookupErr := spec.next(ctx, c, call)
		var out *createOutcome[Resp]
		switch decision {
		case resend:
			continue
		case takeFound:
			return &createOutcome[Resp]{object: &found[0]}, nil
		case reportSecretLost:
			cause = &SecretLostError{Operation: op.ID, Object: call.Object, IDs: idsOf(found, spec.id), Cause: cause}
			if len(found) == 1 && spec.isNew(c, call, &found[0]) {
				out = &createOutcome[Resp]{object: &found[0]}
			}
		case reportUnknown:
			cause = &UnknownOutcomeError{
				Operation: op.ID, Object: call.Object,
				Effect: cmp.Or(spec.effect, "it may have been created"), Check: spec.check,
				Attempts: call.Attempts, RequestID: call.RequestID, Cause: cause, Lookup: lookupErr,
			}
		}
		if spec.invalidate != nil {
			spec.invalidate()
		}
		return out, cause
	}
}

// createIn is create for an operation that returns an object of a kind.
func createIn[Req, T any](ctx context.Context, k *kind[T], op api.Operation[Req, T], req *Req, spec createSpec[T]) (*T, error) {
	spec.id, spec.invalidate = k.ID, k.InvalidateAll
	out, err := create(ctx, k.core, op, req, spec)
	if err != nil {
		return nil, err
	}
	k.Put(*out.object)
	return out.object, nil
}

// decision is what a create does after an attempt that has not returned the object
// and may have created it.
type decision int

const (
	lookUp           decision = iota + 1 // search the lists for what was requested
	resend                               // with the same Idempotency-Key
	takeFound                            // the object that the lookup found is what was created
	reportSecretLost                     // fail with a SecretLostError
	reportUnknown                        // fail with an UnknownOutcomeError
	reportFailure                        // fail with the error of the latest attempt
)

// facts is a set of what is known beside the outcome of the latest attempt and of
// the lookup.
type facts uint

const (
	secret facts = 1 << iota // the response has a secret that no lookup returns
	paid                     // the request spends money
	keys                     // the API has proved that it honours Idempotency-Keys
	retry                    // another attempt is allowed
	once                     // nothing but the key keeps the API from executing it twice
	slow                     // the latest attempt was so long in flight that it may still arrive
)

// lookup is the result of the latest lookup. The values can be combined to sets.
type lookup uint

const (
	notMade lookup = 1 << iota
	foundNone
	foundOne
	foundSeveral
	lookupFailed // or there is no list
)

// rule is one row of the decision table. It applies to some results of the lookup,
// if all facts of given and none of unless hold, and after some outcomes (0: all).
type rule struct {
	lookup        lookup
	given, unless facts
	after         transport.Outcome
	then          decision
}

// decisionTable is the table of the package comment; the first rule that applies
// decides.
var decisionTable = []rule{
	{lookup: notMade, given: secret | keys | retry, then: resend},
	{lookup: notMade, then: lookUp},

	{lookup: foundOne, unless: secret, then: takeFound},
	{lookup: foundOne | foundSeveral, given: secret | keys | retry, then: resend},
	{lookup: foundOne | foundSeveral, given: secret, then: reportSecretLost},

	{lookup: foundNone, given: once | slow, unless: keys, then: reportUnknown},
	{lookup: foundNone, given: retry, then: resend},
	{lookup: foundNone, after: transport.NoResponse | transport.NotSent | transport.Succeeded, then: reportUnknown},
	{lookup: foundNone, after: transport.Failed | transport.Busy, given: paid, then: reportUnknown},
	{lookup: foundNone, then: reportFailure},

	{lookup: foundSeveral | lookupFailed, given: keys | retry, unless: paid, then: resend},
	{lookup: foundSeveral | lookupFailed, then: reportUnknown},
}

// decide returns what the decision table says.
func decide(l lookup, holds facts, after transport.Outcome) decision {
	for _, r := range decisionTable {
		if r.lookup&l != 0 && holds&r.given == r.given && holds&r.unless == 0 && (r.after == 0 || after.In(r.after)) {
			return r.then
		}
	}
	panic("client: the decision table has no rule for a situation")
}

// next looks up what a call has created, if the decision table says so, and returns
// what to do.
func (spec *createSpec[Resp]) next(ctx context.Context, c *core, call *transport.Call) (_ decision, found []Resp, err error) {
	after, isAllowed := call.Last.Outcome, call.AwaitRetry(ctx)
	// After a success without the object, only a replay does no harm. That the lookup finds
	// no record of the key is no reason to repeat what the API calls done.
	mayRepeat := after.In(transport.Unknown) || c.transport.HonoursKeys.Load()
	holds := func() facts {
		all := spec.facts
		if c.transport.HonoursKeys.Load() {
			all |= keys
		}
		if after.In(transport.Unknown) && call.Last.Took >= slowAttempt {
			all |= slow
		}
		if isAllowed && mayRepeat {
			all |= retry
		}
		return all
	}
	if d := decide(notMade, holds(), after); d != lookUp {
		return d, nil, nil
	}
	found, err = spec.lookUp(ctx, c, call)
	// An outage, which prevented another attempt, is over when a lookup succeeds.
	if !isAllowed && err == nil && len(found) == 0 && call.AwaitRetry(ctx) {
		isAllowed = true
		found, err = spec.lookUp(ctx, c, call)
	}
	result := foundOne
	switch {
	case err != nil:
		result = lookupFailed
	case len(found) == 0:
		result = foundNone
	case len(found) > 1:
		result, err = foundSeveral, &AmbiguousError{Object: spec.object, IDs: idsOf(found, spec.id)}
	}
	return decide(result, holds(), after), found, err // the lookup may have proved keys
}

// lookUp returns the objects that the request may have created. It searches even
// if the caller has given up, because otherwise nobody would manage the object.
func (spec *createSpec[Resp]) lookUp(ctx context.Context, c *core, call *transport.Call) ([]Resp, error) {
	if spec.find == nil {
		return nil, errNoList
	}
	ctx, cancel := withGrace(ctx, lookupGrace)
	defer cancel()
	ctx = transport.ForLookup(ctx, call.Key)
	lookups := 1
	if spec.facts&paid != 0 {
		lookups = paidLookups
	}
	for {
		found, err := spec.find(ctx)
		if lookups--; err != nil || len(found) > 0 || lookups == 0 {
			return spec.withoutOlder(c, call, found), err
		}
		if err := call.Pause(ctx); err != nil {
			return nil, err
		}
	}
}

// withGrace returns a context that ends some time after another one.
func withGrace(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, func() { stop(); cancel() }
}

// withoutOlder removes the objects that are older than the request, by the API's clock,
// and those whose secret this client has. They belong to somebody else, often to another
// resource of the same configuration.
func (spec *createSpec[Resp]) withoutOlder(c *core, call *transport.Call, found []Resp) []Resp {
	if spec.createdAt == nil {
		return found
	}
	return slices.DeleteFunc(found, func(r Resp) bool {
		_, isKnown := c.known.Load(spec.id(&r))
		age, ok := spec.age(c, call, &r)
		return isKnown || ok && age > clockSlack
	})
}

// isNew reports whether an object is certainly not older than the request.
func (spec *createSpec[Resp]) isNew(c *core, call *transport.Call, r *Resp) bool {
	age, ok := spec.age(c, call, r)
	return ok && age <= clockSlack
}

// age returns how old an object was when the request was sent first, by the API's clock.
func (spec *createSpec[Resp]) age(c *core, call *transport.Call, r *Resp) (age time.Duration, ok bool) {
	offset, known := c.transport.ClockOffset()
	created, err := time.Parse(time.RFC3339, spec.createdAt(r))
	return call.Started.Add(offset).Sub(created), known && err == nil
}

// isComplete reports whether a response has what was created.
func (spec *createSpec[Resp]) isComplete(resp *Resp) bool {
	if spec.id == nil {
		return true
	}
	id := spec.id(resp)
	return id != "" && id != "0"
}

// created returns the object of an outcome.
func created[Resp any](out *createOutcome[Resp], err error) (*Resp, error) {
	if err != nil {
		return nil, err
	}
	return out.object, nil
}
