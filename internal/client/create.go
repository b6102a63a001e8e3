package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const (
	// lookGrace is how long a look may take after the caller has given up.
	lookGrace = 10 * time.Second
	// paidLooks is how often a list is looked at before something that is paid
	// for counts as not bought.
	paidLooks = 3
	// clockSlack allows for a server that keeps whole seconds.
	clockSlack = 2 * time.Second
)

var errNoList = errors.New("this API has no list of such objects")

// creation is what create must know of one keyed request beyond its contract.
// See doc.go for the rule that it serves.
type creation[Resp any] struct {
	// object names what is created, in messages.
	object string
	// hide are secret values of the request's body.
	hide []string
	// id returns the id in an answer; "" means that it names nothing. Nil: every
	// answer will do.
	id func(*Resp) string
	// find searches the lists for what the request asked for. Nil: there is no
	// list to look at.
	find func(context.Context) ([]Resp, error)
	// secretAt is set where the answer holds a secret that find can't give: it
	// returns the time at which an object was created.
	secretAt func(*Resp) string
	// createdAt, if set, returns the time at which an object was created. A look
	// then passes over objects that are older than the request.
	createdAt func(*Resp) string
	// paid: it is not sent again where the lists can't tell.
	paid bool
	// forget is called when something may have been created that is not known.
	forget func()
	// may says what may have happened when the outcome stays unknown, check
	// where to see it.
	may, check string

	// resumed reports, after a success, that an interrupted create of an earlier run
	// created the object.
	resumed bool
	// replayed reports, after a success, that the API kept the answer from an
	// earlier attempt.
	replayed bool
	// requestID names the request of the answer.
	requestID string
	// leftovers are the ids of objects that an earlier attempt has probably
	// created besides the one that was returned.
	leftovers []string

	seen []Resp // what the latest look has found, where the answer holds a secret
}

// create sends a keyed request until its outcome is known.
func create[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, cr *creation[Resp]) (*Resp, error) {
	x, err := c.begin(op.Spec, req, about(cr.object), hiding(cr.hide...))
	if err != nil {
		return nil, err
	}
	for {
		resp, err := send[Resp](ctx, x)
		if err == nil && cr.names(resp) {
			cr.replayed, cr.requestID = x.replayed, x.requestID
			cr.resumed = x.resumed
			cr.compare(x, resp)
			return resp, nil
		}
		if err != nil && !x.accepted && !x.lost {
			return nil, err
		}
		resp, again, err := cr.settle(ctx, x, err)
		switch {
		case again:
			continue
		case err != nil && cr.forget != nil:
			cr.forget()
		}
		return resp, err
	}
}

func (cr *creation[Resp]) names(resp *Resp) bool {
	if cr.id == nil {
		return true
	}
	id := cr.id(resp)
	return id != "" && id != "0"
}

// settle finds out what an attempt has done whose answer is missing, unreadable,
// or a refusal that may come from the attempt before. It returns what was
// created, or that the request is to be sent again, or the error to give up
// with.
func (cr *creation[Resp]) settle(ctx context.Context, x *exchange, cause error) (found *Resp, again bool, err error) {
	again = x.latest == lost && x.again(ctx, 0)
	secret, proven := cr.secretAt != nil, x.c.keys.proven()
	if again {
		if err := x.pause(ctx); err != nil {
			again = false
		} else if secret && proven {
			return nil, true, nil
		}
	}
	seen, lookErr := cr.look(ctx, x)
	seen = cr.recent(x, seen)
	switch {
	case lookErr == nil && secret && len(seen) > 0:
		again, err := cr.retell(x, seen, again, cause)
		return nil, again, err
	case lookErr == nil && len(seen) == 1:
		return &seen[0], false, nil
	case lookErr == nil && len(seen) == 0:
		return nil, again, cr.missing(x, again, cause)
	case lookErr == nil:
		lookErr = cr.ambiguous(seen)
	}
	if again && proven && !cr.paid {
		return nil, true, nil
	}
	return nil, false, cr.unknown(x, cause, lookErr)
}

// look searches for what the request asked for, also when the caller has given
// up: an id that is lost now is an object that nobody manages.
func (cr *creation[Resp]) look(ctx context.Context, x *exchange) ([]Resp, error) {
	if cr.find == nil {
		return nil, errNoList
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lookGrace)
		defer cancel()
	}
	ctx = insist(context.WithValue(ctx, outcomeKey{}, x.key))
	looks := 1
	if cr.paid {
		looks = paidLooks
	}
	for {
		found, err := cr.find(ctx)
		if looks--; err != nil || len(found) > 0 || looks == 0 {
			return found, err
		}
		if err := x.c.hooks.Sleep(ctx, x.c.hooks.Jitter(x.c.retry.ceiling(x.tries))); err != nil {
			return nil, err
		}
	}
}

// recent returns the objects that the request may have created: those that are
// not older than it. An older one belongs to somebody else, often to another
// resource of the same configuration.
func (cr *creation[Resp]) recent(x *exchange, seen []Resp) []Resp {
	return slices.DeleteFunc(seen, func(r Resp) bool { return cr.isOlder(x, &r) })
}

// isOlder reports whether an object is known to be older than the request. Both times
// are the API's.
func (cr *creation[Resp]) isOlder(x *exchange, r *Resp) bool {
	begun, ok := x.c.serverClock.at(x.begun)
	if cr.createdAt == nil || !ok {
		return false
	}
	created, err := time.Parse(time.RFC3339, cr.createdAt(r))
	return err == nil && created.Before(begun.Add(-clockSlack))
}

// retell sends the same key once more for an answer that holds a secret. An API
// that honours keys tells it again; another one refuses the duplicate or makes
// one, which compare reports. When the look after that shows more than the look
// before, this API makes duplicates, and no more are sent.
func (cr *creation[Resp]) retell(x *exchange, seen []Resp, again bool, cause error) (bool, error) {
	grown := cr.seen != nil && len(seen) > len(cr.seen)
	cr.seen = seen
	if again && !grown {
		return true, nil
	}
	return false, &SecretLostError{Operation: x.spec.ID, Object: x.object, IDs: cr.ids(seen), Cause: cause}
}

// missing is the error when a look shows that nothing was created and the
// request can't be sent again.
func (cr *creation[Resp]) missing(x *exchange, again bool, cause error) error {
	switch {
	case again:
		return nil
	case x.accepted, x.latest != final && (cr.paid || x.status == 0):
		return cr.unknown(x, cause, nil)
	}
	return cause
}

// compare looks among what a look has found for a duplicate of what was
// created: an object that is not older than the request. Both times are the
// server's, only the time between is the client's, so that clocks need not
// agree.
func (cr *creation[Resp]) compare(x *exchange, resp *Resp) {
	if cr.replayed || cr.secretAt == nil {
		return
	}
	fresh, err := time.Parse(time.RFC3339, cr.secretAt(resp))
	earliest := fresh.Add(-x.c.hooks.Now().Sub(x.begun) - clockSlack)
	for i := range cr.seen {
		created, err2 := time.Parse(time.RFC3339, cr.secretAt(&cr.seen[i]))
		older := err == nil && err2 == nil && created.Before(earliest)
		if id := cr.id(&cr.seen[i]); id != cr.id(resp) && !older {
			cr.leftovers = append(cr.leftovers, id)
		}
	}
}

func (cr *creation[Resp]) ids(found []Resp) []string {
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = cr.id(&found[i])
	}
	return ids
}

func (cr *creation[Resp]) ambiguous(found []Resp) error {
	return &AmbiguousError{Object: cr.object, IDs: cr.ids(found)}
}

func (cr *creation[Resp]) unknown(x *exchange, cause, look error) error {
	return &UnknownOutcomeError{
		Operation: x.spec.ID,
		Object:    x.object,
		May:       cmp.Or(cr.may, "it may have been created"),
		Check:     cr.check,
		Attempts:  x.tries,
		RequestID: x.requestID,
		Cause:     cause,
		Look:      look,
	}
}

// createLifecycle is create for an operation beyond the published ones.
func createLifecycle[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, cr *creation[Resp]) (*Resp, error) {
	resp, err := create(ctx, c, op, req, cr)
	// Not errors.AsType: an unknown outcome has such an error inside at most.
	if e, ok := err.(*Error); ok && (e.unsupported() || e.Status == http.StatusNotFound) {
		return nil, unsupported(ErrCreateUnsupported, op.Spec, cr.object)
	}
	return resp, err
}
