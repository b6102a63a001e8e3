package client

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// ListMailboxes returns the mailboxes that match the request's filters.
func (c *Client) ListMailboxes(ctx context.Context, req api.ListMailboxesRequest) iter.Seq2[api.Mailbox, error] {
	return list(ctx, c, api.ListMailboxes, req, mailboxKeys.ID)
}

// FindMailbox looks a mailbox up by its address.
func (c *Client) FindMailbox(ctx context.Context, address string) (*api.Mailbox, error) {
	canonical := normalizeAddress(address)
	return c.Mailboxes.share(ctx, canonical, func(ctx context.Context) (*api.Mailbox, error) {
		mailboxes := c.ListMailboxes(ctx, api.ListMailboxesRequest{Search: canonical})
		found, err := filter(mailboxes, func(m *api.Mailbox) bool { return normalizeAddress(m.PrimaryEmail) == canonical })
		return c.Mailboxes.one(address, found, err)
	})
}

// CreateMailbox creates a mailbox.
func (c *Client) CreateMailbox(ctx context.Context, body api.CreateMailboxBody) (*api.Mailbox, error) {
	return createIn(ctx, c.Mailboxes, api.CreateMailbox, &api.CreateMailboxRequest{Body: body}, createSpec[api.Mailbox]{
		object:    body.LocalPart + "@" + body.Domain,
		createdAt: func(m *api.Mailbox) string { return m.CreatedAt },
		find: func(ctx context.Context) ([]api.Mailbox, error) {
			mailboxes := c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: body.Domain, Search: body.LocalPart})
			return filter(mailboxes, func(m *api.Mailbox) bool {
				return inDomain(m, body.Domain) && strings.EqualFold(m.LocalPart, body.LocalPart)
			})
		},
		same: func(m *api.Mailbox) bool { return hasNames(m, body.FirstName, body.LastName) },
	})
}

// CountMailboxes returns the number of mailboxes in a domain (id or name), with one request.
func (c *Client) CountMailboxes(ctx context.Context, domain string) (int, error) {
	page, err := count(ctx, c, api.ListMailboxes, api.ListMailboxesRequest{Domain: domain})
	switch {
	case err != nil:
		return 0, err
	case len(page.Items) > 0 && !inDomain(&page.Items[0], domain): // an API may ignore the filter
		return 0, c.differs(api.ListMailboxes.Spec, "%s: this API does not filter by domain", api.ListMailboxes.ID)
	}
	return page.Total, nil
}

// UpdateMailbox changes the fields of a mailbox that are set in body.
func (c *Client) UpdateMailbox(ctx context.Context, mailbox string, body api.UpdateMailboxBody) (*api.Mailbox, error) {
	req := &api.UpdateMailboxRequest{Mailbox: mailbox, Body: body}
	return update(ctx, c.Mailboxes, api.UpdateMailbox, req, mailbox)
}

// ExportMailboxes returns mailboxes as CSV. The caller closes the reader, and keeps ctx
// alive while reading.
func (c *Client) ExportMailboxes(ctx context.Context, body api.ExportMailboxesBody) (io.ReadCloser, error) {
	return transport.Stream(ctx, c.transport, api.ExportMailboxes, &api.ExportMailboxesRequest{Body: body})
}

// inDomain reports whether a mailbox is in a domain, by id or name.
func inDomain(m *api.Mailbox, domain string) bool {
	domain = normalizeDomain(domain)
	return normalizeID(m.DomainID) == domain || normalizeDomain(m.DomainName) == domain
}

// hasNames reports whether the names of a mailbox equal the names of a request. A mailbox with
// the same address but other names existed before.
func hasNames(m *api.Mailbox, first, last string) bool {
	return strings.TrimSpace(m.FirstName) == strings.TrimSpace(first) && strings.TrimSpace(m.LastName) == strings.TrimSpace(last)
}
