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
	// clockSlack allows for an API whose times have whole seconds.
	clockSlack = 2 * time.Second
)

var errNoList = errors.New("this API has no list of such objects")

// createSpec describes a create beyond its contract. See the package comment for
// what it is used for.
type createSpec[Resp any] struct {
	// object names what is created, in messages.
	object string
	// redact are secret values of the request's body.
	redact []string
	// id returns the id in a response, or "" if it has none. Nil: every response is
	// complete.
	id func(*Resp) string
	// find searches the lists for what was requested. Nil: there is no list.
	find func(context.Context) ([]Resp, error)
	// createdAt, if set, returns the time at which an object was created, so that a
	// lookup ignores objects that are older than the request.
	createdAt func(*Resp) string
	// hasSecret: the response has a secret that find does not return. It needs
	// createdAt.
	hasSecret bool
	// paid: the request spends money.
	paid bool
	// invalidate is called if something may have been created that is not known.
	invalidate func()
	// effect says what may have happened if the outcome stays unknown, check where
	// to see it.
	effect, check string
}

// createOutcome is the result of a successful create.
type createOutcome[Resp any] struct {
	object *Resp
	// resumed: an interrupted create of an earlier run created the object.
	resumed bool
	// requestID is that of the response.
	requestID string
	// leftovers are the ids of duplicates that an earlier attempt has probably
	// created.
	leftovers []string
}

// create sends a keyed request until its outcome is known.
func create[Req, Resp any](ctx context.Context, c *core, op api.Operation[Req, Resp], req *Req, spec createSpec[Resp]) (*createOutcome[Resp], error) {
	call, err := c.transport.NewCall(op.Spec, req, transport.About(spec.object), transport.Redacting(spec.redact...))
	if err != nil {
		return nil, err
	}
	var before []Resp // what was found before the latest attempt
	for {
		resp, cause := transport.Send[Resp](ctx, call)
		if cause == nil && spec.isComplete(resp) {
			return spec.outcome(c, call, resp, before), nil
		}
		if cause != nil && !call.MayBeProcessed() {
			return nil, cause
		}
		next, found, lookupErr := spec.decide(ctx, c, call, before)
		switch next {
		case resend:
			if spec.hasSecret && len(found) > 0 {
				before = found
			}
			continue
		case takeFound:
			return &createOutcome[Resp]{object: &found[0]}, nil
		case reportSecretLost:
			cause = &SecretLostError{Operation: op.ID, Object: call.Object, IDs: idsOf(found, spec.id), Cause: cause}
		case reportUnknown:
			cause = spec.unknownOutcome(op.Spec, call, cause, lookupErr)
		}
		if spec.invalidate != nil {
			spec.invalidate()
		}
		return nil, cause
	}
}

// decide looks up what a call has created, if the decision table says so, and
// returns what to do next. before is what was found before the latest attempt.
func (spec *createSpec[Resp]) decide(ctx context.Context, c *core, call *transport.Call, before []Resp) (next decision, found []Resp, err error) {
	s := situation{
		secret: spec.hasSecret, paid: spec.paid, keys: c.transport.HonoursKeys(),
		retry: call.AwaitRetry(ctx), response: responseOf(call.Last), lookup: notMade,
	}
	if next = decide(s); next != lookUp {
		return next, nil, nil
	}
	found, err = spec.lookUp(ctx, c, call)
	s.lookup = lookupResult(found, before, err)
	if s.lookup == foundSeveral {
		err = &AmbiguousError{Object: spec.object, IDs: idsOf(found, spec.id)}
	}
	return decide(s), found, err
}

// outcome returns the outcome of a create whose response has the object.
func (spec *createSpec[Resp]) outcome(c *core, call *transport.Call, resp *Resp, before []Resp) *createOutcome[Resp] {
	last := call.Last
	out := &createOutcome[Resp]{object: resp, resumed: last.Resumed, requestID: call.RequestID}
	if spec.hasSecret && !last.Replayed {
		out.leftovers = spec.leftovers(c, call, resp, before)
	}
	return out
}

// isComplete reports whether a response has what was created.
func (spec *createSpec[Resp]) isComplete(resp *Resp) bool {
	if spec.id == nil {
		return true
	}
	id := spec.id(resp)
	return id != "" && id != "0"
}

func responseOf(a transport.Attempt) response {
	switch {
	case a.Accepted:
		return unreadableResponse
	case a.Outcome == transport.Final:
		return refusal
	case a.Status == 0:
		return noResponse
	}
	return errorStatus
}

func lookupResult[Resp any](found, before []Resp, err error) lookup {
	switch {
	case err != nil:
		return lookupFailed
	case len(found) == 0:
		return foundNone
	case len(before) > 0 && len(found) > len(before):
		return foundDuplicate
	case len(found) == 1:
		return foundOne
	}
	return foundSeveral
}

// lookUp returns the objects that the request may have created. It searches even
// if the caller has given up, because otherwise nobody would manage the object.
func (spec *createSpec[Resp]) lookUp(ctx context.Context, c *core, call *transport.Call) ([]Resp, error) {
	if spec.find == nil {
		return nil, errNoList
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lookupGrace)
		defer cancel()
	}
	ctx = transport.ForLookup(ctx, call.Key)
	lookups := 1
	if spec.paid {
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

// withoutOlder removes the objects that are older than the request, by the API's
// clock. They belong to somebody else, often to another resource of the same
// configuration.
func (spec *createSpec[Resp]) withoutOlder(c *core, call *transport.Call, found []Resp) []Resp {
	offset, known := c.transport.ClockOffset()
	if spec.createdAt == nil || !known {
		return found
	}
	earliest := call.Started.Add(offset - clockSlack)
	return slices.DeleteFunc(found, func(r Resp) bool {
		created, err := time.Parse(time.RFC3339, spec.createdAt(&r))
		return err == nil && created.Before(earliest)
	})
}

// leftovers returns the ids of the objects that were found before the attempt
// that created an object, and that are not older than the request. It compares
// times of the API, so that the clocks need not agree.
func (spec *createSpec[Resp]) leftovers(c *core, call *transport.Call, created *Resp, before []Resp) []string {
	latest, err := time.Parse(time.RFC3339, spec.createdAt(created))
	earliest := latest.Add(call.Started.Sub(c.transport.Hooks().Now()) - clockSlack)
	var ids []string
	for i := range before {
		at, err2 := time.Parse(time.RFC3339, spec.createdAt(&before[i]))
		older := err == nil && err2 == nil && at.Before(earliest)
		if id := spec.id(&before[i]); id != spec.id(created) && !older {
			ids = append(ids, id)
		}
	}
	return ids
}

func (spec *createSpec[Resp]) unknownOutcome(s api.Spec, call *transport.Call, cause, lookupErr error) error {
	return &UnknownOutcomeError{
		Operation: s.ID,
		Object:    call.Object,
		Effect:    cmp.Or(spec.effect, "it may have been created"),
		Check:     spec.check,
		Attempts:  call.Attempts,
		RequestID: call.RequestID,
		Cause:     cause,
		Lookup:    lookupErr,
	}
}

// created returns the object of an outcome.
func created[Resp any](out *createOutcome[Resp], err error) (*Resp, error) {
	if err != nil {
		return nil, err
	}
	return out.object, nil
}
