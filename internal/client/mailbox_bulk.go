package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// parallelBulks is how many bulk requests of one call are in flight at once.
const parallelBulks = 4

// checkBulk is what to do about an unknown outcome of a bulk create.
const checkBulk = "Run apply again: it looks for the mailboxes first."

// MailboxOutcome is the outcome of one item of CreateMailboxes. A request that fails as
// a whole is the same Err for each of its items.
type MailboxOutcome struct {
	Mailbox *api.Mailbox // nil if Err is set
	Err     error
}

// CreateMailboxes creates mailboxes of one domain, by id or name, with bulk requests. It
// returns an outcome for each item, in their order: one that fails does not stop the
// others. The second of two items with one address fails.
func (c *Client) CreateMailboxes(ctx context.Context, domain string, items []api.NewMailboxItem) []MailboxOutcome {
	outcomes := make([]MailboxOutcome, len(items))
	queue := make([]bulkItem, 0, len(items))
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		each := bulkItem{item, localPartKey(item.LocalPart), &outcomes[i]}
		if seen[each.key] {
			each.outcome.Err = itemError(domain, item, api.FailedMailboxItem{
				Code: api.BulkDuplicateInRequest, Message: "another mailbox of the same request has this address",
			}, "")
			continue
		}
		seen[each.key] = true
		queue = append(queue, each)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, min(parallelBulks, c.transport.Hooks.Parallel))
	for chunk := range slices.Chunk(queue, c.maxBulkItems()) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c.createChunk(ctx, domain, chunk)
		})
	}
	wg.Wait()
	return outcomes
}

// bulkItem is an item of a bulk request, and where its outcome goes.
type bulkItem struct {
	api.NewMailboxItem
	key     string // its local part as mailboxes are compared
	outcome *MailboxOutcome
}

func (i *bulkItem) take(m *api.Mailbox) {
	*i.outcome = MailboxOutcome{Mailbox: m}
}

// createChunk creates the items of one request, or of several if the API accepts only
// fewer items in one.
func (c *Client) createChunk(ctx context.Context, domain string, items []bulkItem) {
	for len(items) > 0 {
		n := min(len(items), c.maxBulkItems())
		b := &bulkCreate{Client: c, domain: domain, items: items[:n]}
		if err := b.send(ctx); n > 1 && !b.lookedUp && isBulkTooLarge(err) {
			c.lowerBulkLimit(int64(n / 2))
			continue
		}
		items = items[n:]
	}
}

// maxBulkItems returns how many items a bulk request may have, as far as is known.
func (c *Client) maxBulkItems() int {
	if n := c.bulkLimit.Load(); n > 0 {
		return int(n)
	}
	return api.MaxBulkItems
}

func (c *Client) lowerBulkLimit(to int64) {
	for {
		n := c.bulkLimit.Load()
		if n > 0 && n <= to || c.bulkLimit.CompareAndSwap(n, to) {
			return
		}
	}
}

// isBulkTooLarge reports whether err refuses the number of items, or the size of the
// body.
func isBulkTooLarge(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == http.StatusRequestEntityTooLarge ||
		(e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest) &&
			slices.ContainsFunc(e.Problems, func(p Problem) bool { return slices.Equal(p.Loc, []string{"body", "items"}) }))
}

// bulkCreate is one bulk request with all its attempts.
type bulkCreate struct {
	*Client
	domain string
	items  []bulkItem

	lookedUp bool                 // the outcome of some attempt was unknown
	found    map[int]*api.Mailbox // by item, what the lookups found
}

// send sets the outcome of each item. Its error is that of the whole request.
func (b *bulkCreate) send(ctx context.Context) error {
	body := api.CreateMailboxesBody{Domain: b.domain, Items: make([]api.NewMailboxItem, len(b.items))}
	for i := range b.items {
		body.Items[i] = b.items[i].NewMailboxItem
	}
	started := b.transport.Hooks.Now()
	out, err := create(ctx, b.core, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body}, createSpec[api.CreatedMailboxes]{
		object: fmt.Sprintf("%d mailboxes of %s", len(b.items), b.domain),
		id: func(r *api.CreatedMailboxes) string {
			if b.isComplete(r) {
				return b.domain
			}
			return ""
		},
		find: func(ctx context.Context) ([]api.CreatedMailboxes, error) {
			if err := b.lookUp(ctx, started); err != nil || len(b.found) < len(b.items) {
				return nil, err
			}
			return []api.CreatedMailboxes{{}}, nil // everything is in b.found
		},
		invalidate: b.mailboxes.InvalidateAll,
		effect:     "some of the mailboxes may have been created", check: checkBulk,
	})
	if err != nil {
		for i := range b.items {
			b.items[i].outcome.Err = err
		}
	} else {
		b.report(ctx, out, started)
	}
	for i, m := range b.found {
		if b.items[i].outcome.Mailbox == nil {
			b.items[i].take(m)
		}
	}
	for i := range b.items {
		if m := b.items[i].outcome.Mailbox; m != nil {
			b.mailboxes.Put(*m)
		}
	}
	return err
}

// report sets the outcomes that a response has. After an attempt with an unknown outcome,
// an item whose address is taken may be what that attempt created.
func (b *bulkCreate) report(ctx context.Context, out *createOutcome[api.CreatedMailboxes], started time.Time) {
	for i := range out.object.Created {
		item := &out.object.Created[i]
		b.items[item.Index].take(&item.Mailbox)
	}
	var taken []int
	for _, failed := range out.object.Failed {
		item := &b.items[failed.Index]
		item.outcome.Err = itemError(b.domain, item.NewMailboxItem, failed, out.requestID)
		if failed.Code == api.BulkAlreadyExists && b.found[failed.Index] == nil {
			taken = append(taken, failed.Index)
		}
	}
	switch {
	case out.replayed:
		b.found = nil // the response is that of the attempt that created them
	case b.lookedUp && len(taken) > 0:
		if err := b.lookUp(ctx, started); err != nil {
			for _, i := range taken {
				outcome := b.items[i].outcome
				outcome.Err = &UnknownOutcomeError{
					Operation: api.CreateMailboxes.ID, Object: b.address(i), Effect: "it may have been created", Check: checkBulk,
					RequestID: out.requestID, Cause: outcome.Err, Lookup: err,
				}
			}
		}
	}
}

// isComplete reports whether a response has each item once, with the mailbox of its
// address.
func (b *bulkCreate) isComplete(r *api.CreatedMailboxes) bool {
	reported := make([]bool, len(b.items))
	report := func(i int) bool {
		first := i >= 0 && i < len(reported) && !reported[i]
		if first {
			reported[i] = true
		}
		return first
	}
	for i := range r.Created {
		item := &r.Created[i]
		if !report(item.Index) || item.Mailbox.ID == "" || localPartKey(item.Mailbox.LocalPart) != b.items[item.Index].key {
			return false
		}
	}
	for _, item := range r.Failed {
		if !report(item.Index) {
			return false
		}
	}
	return len(r.Created)+len(r.Failed) == len(b.items)
}

// lookUp adds the mailboxes to b.found that the domain's list has and that this request
// may have created.
func (b *bulkCreate) lookUp(ctx context.Context, started time.Time) error {
	b.lookedUp = true
	if b.found == nil {
		b.found = map[int]*api.Mailbox{}
	}
	byKey := make(map[string]int, len(b.items))
	for i := range b.items {
		byKey[b.items[i].key] = i
	}
	for m, err := range b.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: b.domain}) {
		if err != nil {
			return err
		}
		i, ok := byKey[localPartKey(m.LocalPart)]
		if !ok || !inDomain(&m, b.domain) || !hasNames(&m, b.items[i].FirstName, b.items[i].LastName) {
			continue
		}
		// An older mailbox existed before, with the names of the request by chance. The
		// clock is that of the list's response.
		offset, known := b.transport.ClockOffset()
		if created, err := time.Parse(time.RFC3339, m.CreatedAt); !known || err != nil || !created.Before(started.Add(offset-clockSlack)) {
			b.found[i] = &m
		}
	}
	return nil
}

func (b *bulkCreate) address(i int) string { return b.items[i].LocalPart + "@" + b.domain }

// localPartKey returns the form of a local part in which mailboxes are compared.
func localPartKey(localPart string) string {
	if canonical, err := emailaddr.ParseLocalPart(localPart); err == nil {
		return canonical
	}
	return strings.ToLower(localPart)
}

// itemError returns the error of an item that the API has refused. The field that it is
// about is the same as in an error of CreateMailbox.
func itemError(domain string, item api.NewMailboxItem, failed api.FailedMailboxItem, requestID string) *Error {
	p := Problem{Msg: transport.Clean(failed.Message), Type: failed.Code}
	for _, field := range []string{"local_part", "first_name", "last_name"} {
		if msg, ok := strings.CutPrefix(p.Msg, field+": "); ok {
			p.Loc, p.Msg = []string{"body", field}, msg
		}
	}
	if p.Msg == "" {
		p.Msg = "the API gave no reason but the code " + transport.Clean(failed.Code)
	}
	return &Error{
		Status: api.CreateMailboxes.Status, RequestID: requestID, Operation: api.CreateMailboxes.ID,
		Object: item.LocalPart + "@" + domain, Problems: []Problem{p},
	}
}
