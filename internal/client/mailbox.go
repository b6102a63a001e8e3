package client

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// ListMailboxes returns the mailboxes that match the request's filters, and none of another domain, because an API may
// ignore that filter.
func (c *Client) ListMailboxes(ctx context.Context, req api.ListMailboxesRequest) iter.Seq2[api.Mailbox, error] {
	all := list(ctx, c, api.ListMailboxes, req, mailboxKeys.ID)
	if req.Domain == "" {
		return all
	}
	return func(yield func(api.Mailbox, error) bool) {
		for m, err := range all {
			in := false
			if err == nil {
				in, err = c.inDomain(ctx, &m, req.Domain)
			}
			if err != nil {
				yield(m, err)
				return
			}
			if in && !yield(m, nil) {
				return
			}
		}
	}
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
			return filter(mailboxes, func(m *api.Mailbox) bool { return strings.EqualFold(m.LocalPart, body.LocalPart) })
		},
		same: func(m *api.Mailbox) bool { return hasNames(m, body.FirstName, body.LastName) },
	})
}

// CountMailboxes returns the number of mailboxes in a domain (id or name), with one request.
func (c *Client) CountMailboxes(ctx context.Context, domain string) (int, error) {
	page, err := count(ctx, c, api.ListMailboxes, api.ListMailboxesRequest{Domain: domain})
	if err != nil {
		return 0, err
	}
	for _, m := range page.Items {
		switch in, err := c.inDomain(ctx, &m, domain); {
		case err != nil:
			return 0, err
		case !in: // an API may ignore the filter
			return 0, c.differs(api.ListMailboxes.Spec, "%s: this API does not filter by domain", api.ListMailboxes.ID)
		}
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

// inDomain reports whether a mailbox is in a domain, by id or name. For an API that leaves domain_id out, it sets the
// id of the domain with the mailbox's domain_name.
func (c *Client) inDomain(ctx context.Context, m *api.Mailbox, domain string) (bool, error) {
	if m.DomainID == "" {
		d, err := c.Domains.cached(ctx, m.DomainName)
		switch {
		case d != nil:
			m.DomainID = d.ID
		case uuid.Validate(domain) == nil && err == nil:
			return false, c.differs(api.ListMailboxes.Spec, "a mailbox in the list of the domain %s lacks domain_id, and its domain is not listed", domain)
		case uuid.Validate(domain) == nil:
			return false, err
		}
	}
	domain = normalizeDomain(domain)
	return normalizeID(m.DomainID) == domain || normalizeDomain(m.DomainName) == domain, nil
}

// hasNames reports whether the names of a mailbox equal the names of a request. A mailbox with
// the same address but other names existed before.
func hasNames(m *api.Mailbox, first, last string) bool {
	return strings.TrimSpace(m.FirstName) == strings.TrimSpace(first) && strings.TrimSpace(m.LastName) == strings.TrimSpace(last)
}
