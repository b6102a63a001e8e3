package client

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// checkBulk is the advice after an unknown outcome of a bulk create.
const checkBulk = "Run apply again: it looks for the mailboxes first."

// MailboxOutcome is the outcome of one item of CreateMailboxes.
type MailboxOutcome struct {
	Mailbox *api.Mailbox // nil if Err is set
	Err     error
}

// CreateMailboxes creates mailboxes in one domain (id or name) with bulk requests. It returns
// an outcome for each item, in the order of the items. Each item requires a different address.
func (c *Client) CreateMailboxes(ctx context.Context, domain string, items []api.NewMailboxItem) []MailboxOutcome {
	outcomes := make([]MailboxOutcome, len(items))
	queue := make([]bulkItem, len(items))
	for i, item := range items {
		queue[i] = bulkItem{item, localPartKey(item.LocalPart), &outcomes[i]}
	}
	chunks := slices.Collect(slices.Chunk(queue, int(c.bulkLimit.Load())))
	Parallel(c, chunks, func(chunk []bulkItem) { c.createChunk(ctx, domain, chunk) })
	return outcomes
}

// bulkItem is an item of a bulk request with its outcome.
type bulkItem struct {
	api.NewMailboxItem
	key     string // of localPartKey
	outcome *MailboxOutcome
}

// createChunk creates the items with one request, or with several if the API accepts fewer
// items in a request.
func (c *Client) createChunk(ctx context.Context, domain string, items []bulkItem) {
	for len(items) > 0 {
		n := min(len(items), int(c.bulkLimit.Load()))
		b := &bulkCreate{Client: c, domain: domain, items: items[:n]}
		if err := b.send(ctx); n > 1 && b.found == nil && isBulkTooLarge(err) {
			c.bulkLimit.Store(min(c.bulkLimit.Load(), int64(n/2)))
			continue
		}
		items = items[n:]
	}
}

// isBulkTooLarge reports whether err refuses the number of items or the size of the body.
func isBulkTooLarge(err error) bool {
	return StatusOf(err) == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(ProblemsAt(err, "body", "items"), func(p Problem) bool { return len(p.Loc) == 2 })
}

// bulkCreate is one bulk request with all its attempts.
type bulkCreate struct {
	*Client
	domain  string
	items   []bulkItem
	started time.Time
	found   map[int]*api.Mailbox // the mailboxes that the lookups found, by item; nil without a lookup
}

// send sets the outcome of each item. It returns the error of the request as a whole.
func (b *bulkCreate) send(ctx context.Context) error {
	body := api.CreateMailboxesBody{Domain: b.domain, Items: make([]api.NewMailboxItem, len(b.items))}
	for i := range b.items {
		body.Items[i] = b.items[i].NewMailboxItem
	}
	b.started = b.transport.Hooks.Now()
	created, call, err := create(ctx, b.Client, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body}, createSpec[api.CreatedMailboxes]{
		object: fmt.Sprintf("%d mailboxes of %s", len(b.items), b.domain),
		id: func(r *api.CreatedMailboxes) string {
			if b.isComplete(r) {
				return b.domain
			}
			return ""
		},
		find: func(ctx context.Context) ([]api.CreatedMailboxes, error) {
			if err := b.lookUp(ctx); err != nil || len(b.found) < len(b.items) {
				return nil, err
			}
			return []api.CreatedMailboxes{{}}, nil // b.found contains every item
		},
		invalidate: b.Mailboxes.cache.Invalidate,
		effect:     "some of the mailboxes may have been created", check: checkBulk,
	})
	if err != nil {
		for i := range b.items {
			b.items[i].outcome.Err = err
		}
	} else {
		b.report(ctx, created, call)
	}
	for i := range b.items {
		if m := b.found[i]; m != nil {
			*b.items[i].outcome = MailboxOutcome{Mailbox: m}
		}
	}
	return err
}

// report sets the outcomes that a response contains. After an attempt with an unknown outcome,
// it looks up the items with a taken address, because that attempt may have created them.
func (b *bulkCreate) report(ctx context.Context, r *api.CreatedMailboxes, call *transport.Call) {
	for i := range r.Created {
		*b.items[r.Created[i].Index].outcome = MailboxOutcome{Mailbox: &r.Created[i].Mailbox}
	}
	var taken []bulkItem
	for _, failed := range r.Failed {
		item := b.items[failed.Index]
		item.outcome.Err = itemError(b.domain, item.NewMailboxItem, failed, call.RequestID)
		if failed.Code == api.BulkAlreadyExists {
			taken = append(taken, item)
		}
	}
	switch {
	case call.IsReplayed():
		b.found = nil // the response contains every outcome of the first attempt
	case b.found != nil:
		if err := b.lookUp(ctx); err != nil {
			for _, item := range taken {
				item.outcome.Err = &UnknownOutcomeError{
					Operation: api.CreateMailboxes.ID, Object: item.LocalPart + "@" + b.domain, Effect: "it may have been created", Check: checkBulk,
					RequestID: call.RequestID, Cause: item.outcome.Err, Lookup: err,
				}
			}
		}
	}
}

// isComplete reports whether a response contains each item once, with the whole mailbox of its
// address.
func (b *bulkCreate) isComplete(r *api.CreatedMailboxes) bool {
	reported := map[int]bool{}
	for i := range r.Created {
		item := &r.Created[i]
		if item.Index < 0 || item.Index >= len(b.items) || item.Mailbox.ID == "" || lacks(&item.Mailbox) != "" || localPartKey(item.Mailbox.LocalPart) != b.items[item.Index].key {
			return false
		}
		reported[item.Index] = true
	}
	for _, item := range r.Failed {
		if item.Index < 0 || item.Index >= len(b.items) {
			return false
		}
		reported[item.Index] = true
	}
	return len(reported) == len(b.items) && len(r.Created)+len(r.Failed) == len(b.items)
}

// lookUp adds to b.found the mailboxes in the domain's list that this request may have created.
func (b *bulkCreate) lookUp(ctx context.Context) error {
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
		if !ok || !hasNames(&m, b.items[i].FirstName, b.items[i].LastName) {
			continue
		}
		// An older mailbox may have the names of the request by chance.
		if age, ok := b.age(m.CreatedAt, b.started); !ok || age <= clockSlack {
			b.found[i] = &m
		}
	}
	return nil
}

// localPartKey returns the form of a local part for comparisons.
func localPartKey(localPart string) string { return strings.ToLower(localPart) }

// itemError returns the error of an item that the API refused. It names the field like an
// error of CreateMailbox.
func itemError(domain string, item api.NewMailboxItem, failed api.FailedMailboxItem, requestID string) *Error {
	p := Problem{Msg: transport.Clean(failed.Message), Type: failed.Code}
	for _, f := range api.FieldsOf(reflect.TypeFor[api.NewMailboxItem]()) {
		if msg, ok := strings.CutPrefix(p.Msg, f.Name+": "); ok {
			p.Loc, p.Msg = []string{"body", f.Name}, msg
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
