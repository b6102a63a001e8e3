package account

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Call is one authenticated request to one operation.
type Call struct {
	Rules   *Rules
	Context context.Context
	Spec    api.Spec
	// Caller holds the grants read in the current snapshot or transaction.
	Caller auth.Caller
	// Arrival is when the request had arrived, with its body. It is the time of all its changes.
	Arrival   time.Time
	RequestID string
	// Idempotency is required for an operation with changes.
	Idempotency *idempotency.Request

	// unchanged is set if a success changed nothing, so that it is not replayed.
	unchanged bool
	// committed is called after the commit. The last run of the transaction sets it.
	committed func()
}

// Operation is an operation of the API with the function that implements it.
type Operation struct {
	api.Spec
	// Run takes a pointer to the request and returns a pointer to the response, nil if it is
	// replayed.
	Run func(c *Call, request any) (response any, err error)
}

// Operations returns every operation of the API, in the order of api.Specs. It panics unless the
// tables bind each operation to exactly one rule.
func Operations() []Operation {
	return oneRuleEach(api.Specs(), slices.Concat(
		accountOperations, auditOperations, authorizationOperations, dedicatedIPOperations, dnsRecordOperations, domainOperations,
		feedbackOperations, forwardingOperations, mailboxOperations, masterPasswordOperations, serviceAccountOperations,
	))
}

// oneRuleEach returns the operations in the order of specs.
func oneRuleEach(specs []api.Spec, bound []Operation) []Operation {
	byID := map[string][]Operation{}
	for _, op := range bound {
		byID[op.ID] = append(byID[op.ID], op)
	}
	var all []Operation
	for _, spec := range specs {
		if n := len(byID[spec.ID]); n != 1 {
			panic(fmt.Sprintf("account: %s is bound to %d rules; bind it to one rule in the table of its kind (%s), such as mailboxOperations, which Operations lists",
				spec.ID, n, spec.Kind.Tag))
		}
		all = append(all, byID[spec.ID]...)
	}
	return all
}

// implement binds an operation to a function.
func implement[Req, Resp any](op api.Operation[Req, Resp], fn func(*Call, *Req) (*Resp, error)) Operation {
	return Operation{op.Spec, func(c *Call, request any) (any, error) { return fn(c, request.(*Req)) }}
}

// read binds an operation to a rule that reads one snapshot.
func read[Req, Resp any](op api.Operation[Req, Resp], rule func(*Call, store.Reader, *Req) (*Resp, error)) Operation {
	return implement(op, func(c *Call, in *Req) (*Resp, error) {
		return view(c, func(r store.Reader) (*Resp, error) { return rule(c, r, in) })
	})
}

// change binds an operation to a rule that runs in a transaction, see transact.
func change[Req, Resp any](op api.Operation[Req, Resp], rule func(*Call, store.Tx, *Req) (*Resp, error)) Operation {
	return implement(op, func(c *Call, in *Req) (*Resp, error) {
		return transact(c, func(tx store.Tx) (*Resp, error) { return rule(c, tx, in) })
	})
}

// remove is change for an operation without a response body.
func remove[Req any](op api.Operation[Req, api.NoContent], rule func(*Call, store.Tx, *Req) error) Operation {
	return change(op, func(c *Call, tx store.Tx, in *Req) (*api.NoContent, error) { return &api.NoContent{}, rule(c, tx, in) })
}

// view calls fn with a snapshot in which the caller is authorized. It hides overdue domains, and
// waits if too many requests of the account are reading.
func view[T any](c *Call, fn func(store.Reader) (T, error)) (out T, err error) {
	leave, err := c.Rules.readers.enter(c.Context, c.Caller.AccountID)
	if err != nil {
		return out, err
	}
	defer leave()
	out, err = store.Read(c.Context, c.Rules.Store, func(r store.Reader) (out T, err error) {
		if err := c.begin(r); err != nil {
			return out, err
		}
		return fn(r)
	})
	return out, c.notFound(err)
}

// transact makes the changes of a request and stores its idempotency record in one transaction. An
// error or a response without a change stores no record: a retry is evaluated again. fn may run
// more than once. A replayed response is nil.
func transact[Resp any](c *Call, fn func(store.Tx) (*Resp, error)) (*Resp, error) {
	var out *Resp
	err := c.Rules.Store.Update(store.InAccount(c.Context, c.Caller.AccountID), func(tx store.Tx) (err error) {
		out, c.unchanged, c.committed = nil, false, func() {}
		if err := c.begin(tx); err != nil {
			return err
		}
		if replayed, err := c.Idempotency.Replay(tx, c.Arrival); err != nil || replayed {
			return err
		}
		if err := c.Caller.MayChange(c.Spec); err != nil {
			return err
		}
		if out, err = fn(tx); err != nil || c.unchanged {
			return err
		}
		return c.Idempotency.Save(tx, c.Arrival, out)
	})
	if err != nil {
		return nil, c.notFound(err)
	}
	if !c.Idempotency.Replayed {
		c.committed()
	}
	return out, nil
}

// begin hides overdue domains in r, and authorizes the caller with the grants in r.
func (c *Call) begin(r store.Reader) error {
	r.HideUnpaid(LastUnpaid(c.Arrival))
	who, err := c.Rules.Auth.Authorize(r, c.Caller, c.Spec)
	if err != nil {
		return err
	}
	c.Caller = who
	return nil
}

// notFound converts store.ErrNotFound to the 404 of the object in the operation's path, and returns
// any other error unchanged.
func (c *Call) notFound(err error) error {
	if params := c.Spec.PathParameters(); len(params) > 1 && errors.Is(err, store.ErrNotFound) {
		// params[0] is the account.
		return api.NewError(http.StatusNotFound, api.TypeNotFound, "no such %s in this account", c.Spec.Kind.Noun).At("path", params[1])
	}
	return err
}

// page returns the requested page of a list of the account.
func page[Entity, Filter, Object any](
	c *Call, p api.Paged, object func(Entity) Object, list func(accountID string, f Filter, s store.Slice) ([]Entity, int, error), f Filter,
) (*api.Page[Object], error) {
	s := store.Slice{Offset: math.MaxInt, Limit: p.PageSize}
	if before := p.Page - 1; before <= math.MaxInt/p.PageSize { // the product must not overflow
		s.Offset = before * p.PageSize
	}
	entities, total, err := list(c.Caller.AccountID, f, s)
	return &api.Page[Object]{Items: objects(entities, object), Page: p.Page, PageSize: p.PageSize, Total: total}, err
}

// unfiltered adapts a list without a filter to page.
func unfiltered[Entity any](list func(string, store.Slice) ([]Entity, int, error)) func(string, struct{}, store.Slice) ([]Entity, int, error) {
	return func(accountID string, _ struct{}, s store.Slice) ([]Entity, int, error) { return list(accountID, s) }
}

// objects converts stored objects to API objects.
func objects[Entity, Object any](entities []Entity, object func(Entity) Object) []Object {
	out := make([]Object, len(entities))
	for i, e := range entities {
		out[i] = object(e)
	}
	return out
}

func timestamp(t time.Time) string { return t.UTC().Format(api.TimestampLayout) }

// optionalTimestamp returns null for the zero time.
func optionalTimestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(timestamp(t))
}

// optional returns null for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// timeInBody parses an optional time of the request body. untimely is its problem if it is too early.
func timeInBody(s *string, byDefault time.Time, untimely *api.Problem) (time.Time, error) {
	switch {
	case untimely != nil:
		return time.Time{}, api.Unprocessable(untimely)
	case s == nil:
		return byDefault, nil
	}
	return api.ParseTime(*s)
}

// readersOfAccount limits the concurrent reads of one account to about half of a store's limit, so
// that other accounts can read too.
const readersOfAccount = 6

// shares limits the concurrent requests of each account. Other requests wait.
type shares struct {
	slots int64
	byID  sync.Map // account id → *semaphore.Weighted
}

// enter waits for a slot of an account. leave releases it.
func (s *shares) enter(ctx context.Context, accountID string) (leave func(), err error) {
	slots, ok := s.byID.Load(accountID)
	if !ok {
		slots, _ = s.byID.LoadOrStore(accountID, semaphore.NewWeighted(s.slots))
	}
	queue := slots.(*semaphore.Weighted)
	return func() { queue.Release(1) }, queue.Acquire(ctx, 1)
}
