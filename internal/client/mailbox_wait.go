package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// waitingMailboxes are the creates of single mailboxes that wait for a limit. Those of one
// domain are sent as one bulk request.
type waitingMailboxes struct {
	batcher[api.CreateMailboxBody, MailboxOutcome]
	noBulk atomic.Bool // this API has no bulk create

	mu     sync.Mutex
	latest map[string]batchSize // by domain
}

// batchSize is how many creates are expected in a batch, and when the latest was sent.
type batchSize struct {
	creates int
	at      time.Time
}

// Limits of the wait for creates that are expected to join a batch.
const (
	maxQuiet  = time.Second     // without another create
	maxGather = 2 * time.Second // in all
	// expectFor is for how long the size of the latest batch is expected again.
	expectFor = 5 * time.Second
)

func newWaitingMailboxes(c *Client) *waitingMailboxes {
	w := &waitingMailboxes{latest: map[string]batchSize{}}
	w.batcher = batcher[api.CreateMailboxBody, MailboxOutcome]{
		max: api.MaxBulkItems, hooks: c.transport.Hooks,
		ready: func(ctx context.Context, b *batch[api.CreateMailboxBody, MailboxOutcome]) (*transport.Permit, error) {
			// The creates of the latest batch have ended about now, and their callers probably
			// come back. To wait for them takes no longer than they would wait for the next
			// permit.
			w.gather(ctx, b, w.expected(b.key), min(3*c.transport.RequestInterval(), maxQuiet), maxGather)
			permit, err := c.transport.AwaitPermit(ctx, api.CreateMailboxes.Spec)
			w.note(b)
			return permit, err
		},
		send: c.sendWaitingMailboxes,
	}
	return w
}

// expected returns how many creates of a domain are about to come, as far as the latest
// batch shows.
func (w *waitingMailboxes) expected(domain string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if latest := w.latest[domain]; w.hooks.Now().Sub(latest.at) < expectFor {
		return latest.creates
	}
	return 1
}

// note keeps the size of a batch that is about to be closed.
func (w *waitingMailboxes) note(b *batch[api.CreateMailboxBody, MailboxOutcome]) {
	w.batcher.mu.Lock()
	n := len(b.callers)
	w.batcher.mu.Unlock()
	// A smaller batch may be a part of the callers, whose other part comes a little later: so
	// the number that is expected falls by one only.
	n = max(n, w.expected(b.key)-1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest[b.key] = batchSize{n, w.hooks.Now()}
}

// CreateMailbox creates a mailbox: by a request of its own if that need not wait, and
// otherwise together with the other creates that wait. resumed reports that an interrupted
// create of an earlier run created it.
func (c *Client) CreateMailbox(ctx context.Context, body api.CreateMailboxBody) (m *api.Mailbox, resumed bool, err error) {
	w, domain := c.waiting, normalizeDomain(body.Domain)
	if w.noBulk.Load() {
		return c.createMailbox(ctx, body)
	}
	if w.expected(domain) <= 1 {
		if permit := c.transport.TryPermit(api.CreateMailbox.Spec); permit != nil {
			return c.createWith(ctx, permit, body)
		}
	}
	if key := localPartKey(body.LocalPart); !w.isFirst(domain, func(other api.CreateMailboxBody) bool { return localPartKey(other.LocalPart) == key }) {
		return c.createMailbox(ctx, body) // the API decides which of the two exists already
	}
	address := body.LocalPart + "@" + body.Domain
	outcome, isAlone, permit, err := w.join(ctx, domain, body)
	switch {
	case errors.Is(err, errNoOutcome):
		c.mailboxes.InvalidateAll()
		return nil, false, &UnknownOutcomeError{
			Operation: api.CreateMailbox.ID, Object: address, Effect: "it may have been created", Cause: ctx.Err(), Lookup: err,
		}
	case err != nil:
		return nil, false, transport.Unsent(api.CreateMailbox.Spec, address, err)
	case isAlone:
		return c.createWith(ctx, permit, body)
	case isMissing(outcome.Err):
		w.noBulk.Store(true)
		return c.createMailbox(ctx, body)
	}
	return outcome.Mailbox, outcome.Resumed, asSingle(outcome.Err, address)
}

// createWith creates one mailbox, with a permit that the caller has got.
func (c *Client) createWith(ctx context.Context, permit *transport.Permit, body api.CreateMailboxBody) (*api.Mailbox, bool, error) {
	defer permit.Release()
	return c.createMailbox(transport.WithPermit(ctx, permit), body)
}

// sendWaitingMailboxes sends creates of one domain as one request.
func (c *Client) sendWaitingMailboxes(ctx context.Context, bodies []api.CreateMailboxBody) []MailboxOutcome {
	items := make([]api.NewMailboxItem, len(bodies))
	for i, body := range bodies {
		items[i] = api.NewMailboxItem{FirstName: body.FirstName, LastName: body.LastName, LocalPart: body.LocalPart}
	}
	return c.CreateMailboxes(ctx, bodies[0].Domain, items)
}

// isMissing reports whether a bulk request failed because this API lacks the operation.
func isMissing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Operation == api.CreateMailboxes.ID && (e.Unsupported() || e.Status == http.StatusNotFound)
}

// asSingle returns the error of a mailbox in a bulk request as if it had been created by a
// request of its own.
func asSingle(err error, address string) error {
	switch e := err.(type) {
	case *UnknownOutcomeError:
		single := *e
		single.Operation, single.Object, single.Effect, single.Check = api.CreateMailbox.ID, address, "it may have been created", ""
		single.Cause = asSingle(e.Cause, address)
		return &single
	case *Error:
		single := *e
		single.Operation, single.Object = api.CreateMailbox.ID, address
		if e.Status == api.CreateMailboxes.Status && len(e.Problems) > 0 { // the error of one item
			single.Status, single.Problems = http.StatusUnprocessableEntity, slices.Clone(e.Problems)
			if IsConflict(e) {
				single.Status = http.StatusConflict
				single.Problems[0].Loc, single.Problems[0].Type = []string{"body"}, api.TypeConflict
			}
		}
		return &single
	}
	return err
}
