package client

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

var mailboxKind = kind[api.Mailbox]{
	noun: "mailbox",
	id:   func(m *api.Mailbox) string { return m.ID },
	key:  func(m *api.Mailbox) string { return m.PrimaryEmail },
	fold: foldAddress,
}

// foldAddress brings an address to canonical form, and an id to lower case.
func foldAddress(s string) string {
	if canonical, err := emailaddr.Normalize(s); err == nil {
		return canonical
	}
	return foldID(s)
}

// ListMailboxes returns the mailboxes that match the request's filters.
func (c *Client) ListMailboxes(ctx context.Context, req api.ListMailboxesRequest) iter.Seq2[api.Mailbox, error] {
	return sweep(ctx, c, api.ListMailboxes, req, mailboxKind.id)
}

// GetMailbox reads a mailbox by id or address.
func (c *Client) GetMailbox(ctx context.Context, mailbox string) (*api.Mailbox, error) {
	return read(ctx, c, api.GetMailbox, &api.MailboxRequest{Mailbox: mailbox}, c.mailboxes, mailbox)
}

// FindMailbox looks a mailbox up by its address.
func (c *Client) FindMailbox(ctx context.Context, address string) (*api.Mailbox, error) {
	found, err := c.mailboxesAt(ctx, address, "")
	return only(mailboxKind, address, found, err)
}

// mailboxesAt lists the mailboxes with an address; domain, if not empty, is one
// more filter for the API.
func (c *Client) mailboxesAt(ctx context.Context, address, domain string) ([]api.Mailbox, error) {
	address = foldAddress(address)
	list := c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: domain, Search: address})
	return matching(list, func(m *api.Mailbox) bool { return foldAddress(m.PrimaryEmail) == address })
}

// CreateMailbox creates a mailbox. resumed reports that an earlier, interrupted run has
// created it.
func (c *Client) CreateMailbox(ctx context.Context, body api.CreateMailboxBody) (m *api.Mailbox, resumed bool, err error) {
	cr := &creation[api.Mailbox]{
		object:    body.LocalPart + "@" + body.Domain,
		id:        mailboxKind.id,
		createdAt: func(m *api.Mailbox) string { return m.CreatedAt },
		find: func(ctx context.Context) ([]api.Mailbox, error) {
			want := itemsByLocalPart([]api.NewMailboxItem{{FirstName: body.FirstName, LastName: body.LastName, LocalPart: body.LocalPart}})
			list := c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: body.Domain, Search: body.LocalPart})
			return matching(list, func(m *api.Mailbox) bool { return inDomain(m, body.Domain) && len(want.of(m)) > 0 })
		},
		forget: c.mailboxes.invalidate,
	}
	if m, err = create(ctx, c, api.CreateMailbox, &api.CreateMailboxRequest{Body: body}, cr); err != nil {
		return nil, false, err
	}
	c.mailboxes.upsert(*m)
	return m, cr.resumed, nil
}

// UpdateMailbox changes what body names of a mailbox.
func (c *Client) UpdateMailbox(ctx context.Context, mailbox string, body api.UpdateMailboxBody) (*api.Mailbox, error) {
	req := &api.UpdateMailboxRequest{Mailbox: mailbox, Body: body}
	return update(ctx, c, api.UpdateMailbox, req, c.mailboxes, mailbox, c.GetMailbox)
}

// DeleteMailbox deletes a mailbox.
func (c *Client) DeleteMailbox(ctx context.Context, mailbox string) error {
	return remove(ctx, c, api.DeleteMailbox, &api.MailboxRequest{Mailbox: mailbox}, c.mailboxes, mailbox)
}

// DeletesMailboxes reports whether this API is taken to have an operation that deletes
// mailboxes; it may read one to find out.
func (c *Client) DeletesMailboxes(ctx context.Context, mailbox string) bool {
	return c.offers(ctx, api.DeleteMailbox.Spec, api.GetMailbox.Spec, func() error {
		_, err := c.GetMailbox(ctx, mailbox)
		return err
	})
}

// ExportMailboxes returns mailboxes as CSV. The caller closes it, and keeps ctx
// alive while reading.
func (c *Client) ExportMailboxes(ctx context.Context, body api.ExportMailboxesBody) (io.ReadCloser, error) {
	return stream(ctx, c, api.ExportMailboxes, &api.ExportMailboxesRequest{Body: body})
}

// inDomain reports whether a mailbox is in a domain, named by id or name.
func inDomain(m *api.Mailbox, domain string) bool {
	domain = foldDomain(domain)
	return foldID(m.DomainID) == domain || foldDomain(m.DomainName) == domain
}

// wanted is what was asked for, by local part: the places of the items.
type wanted struct {
	items  []api.NewMailboxItem
	places map[string][]int
}

func itemsByLocalPart(items []api.NewMailboxItem) wanted {
	w := wanted{items: items, places: map[string][]int{}}
	for i, item := range items {
		local := strings.ToLower(item.LocalPart)
		w.places[local] = append(w.places[local], i)
	}
	return w
}

// of returns the places of the items that asked for a mailbox. One with the same
// address and another name was there before.
func (w wanted) of(m *api.Mailbox) []int {
	var places []int
	for _, i := range w.places[strings.ToLower(m.LocalPart)] {
		if sameText(w.items[i].FirstName, m.FirstName) && sameText(w.items[i].LastName, m.LastName) {
			places = append(places, i)
		}
	}
	return places
}

func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
