package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// ListMailboxes returns the mailboxes that match the request's filters.
func (c *Client) ListMailboxes(ctx context.Context, req api.ListMailboxesRequest) iter.Seq2[api.Mailbox, error] {
	return list(ctx, c.core, api.ListMailboxes, req, mailboxKeys.ID)
}

// GetMailbox reads a mailbox by id or address.
func (c *Client) GetMailbox(ctx context.Context, mailbox string) (*api.Mailbox, error) {
	return read(ctx, c.core, api.GetMailbox, &api.MailboxRequest{Mailbox: mailbox}, c.mailboxes, mailbox)
}

// FindMailbox looks a mailbox up by its address.
func (c *Client) FindMailbox(ctx context.Context, address string) (*api.Mailbox, error) {
	canonical := normalizeAddress(address)
	mailboxes := c.ListMailboxes(ctx, api.ListMailboxesRequest{Search: canonical})
	found, err := filter(mailboxes, func(m *api.Mailbox) bool { return normalizeAddress(m.PrimaryEmail) == canonical })
	return c.mailboxes.one(address, found, err)
}

// CreateMailbox creates a mailbox. resumed reports that an interrupted create of
// an earlier run created it.
func (c *Client) CreateMailbox(ctx context.Context, body api.CreateMailboxBody) (m *api.Mailbox, resumed bool, err error) {
	item := api.NewMailboxItem{FirstName: body.FirstName, LastName: body.LastName, LocalPart: body.LocalPart}
	out, err := create(ctx, c.core, api.CreateMailbox, &api.CreateMailboxRequest{Body: body}, createSpec[api.Mailbox]{
		object:    body.LocalPart + "@" + body.Domain,
		id:        mailboxKeys.ID,
		createdAt: func(m *api.Mailbox) string { return m.CreatedAt },
		find: func(ctx context.Context) ([]api.Mailbox, error) {
			mailboxes := c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: body.Domain, Search: body.LocalPart})
			return filter(mailboxes, func(m *api.Mailbox) bool {
				return inDomain(m, body.Domain) && localPartKey(m.LocalPart) == localPartKey(item.LocalPart) && hasNames(m, item)
			})
		},
		invalidate: c.mailboxes.InvalidateAll,
	})
	if err != nil {
		return nil, false, err
	}
	c.mailboxes.Put(*out.object)
	return out.object, out.resumed, nil
}

// UpdateMailbox changes the fields of a mailbox that body has.
func (c *Client) UpdateMailbox(ctx context.Context, mailbox string, body api.UpdateMailboxBody) (*api.Mailbox, error) {
	req := &api.UpdateMailboxRequest{Mailbox: mailbox, Body: body}
	return update(ctx, c.core, api.UpdateMailbox, req, c.mailboxes, mailbox, c.GetMailbox)
}

// DeleteMailbox deletes a mailbox.
func (c *Client) DeleteMailbox(ctx context.Context, mailbox string) error {
	return remove(ctx, c.core, api.DeleteMailbox, &api.MailboxRequest{Mailbox: mailbox}, c.mailboxes, mailbox)
}

// ExportMailboxes returns mailboxes as CSV. The caller closes it, and keeps ctx
// alive while reading.
func (c *Client) ExportMailboxes(ctx context.Context, body api.ExportMailboxesBody) (io.ReadCloser, error) {
	return transport.Stream(ctx, c.transport, api.ExportMailboxes, &api.ExportMailboxesRequest{Body: body})
}

// CreateMailboxes creates many mailboxes of one domain, each with its own result.
func (c *Client) CreateMailboxes(ctx context.Context, body api.CreateMailboxesBody) (*api.CreatedMailboxes, error) {
	var found *api.CreatedMailboxes
	out, err := create(ctx, c.core, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body}, createSpec[api.CreatedMailboxes]{
		object: fmt.Sprintf("%d mailboxes of %s", len(body.Items), body.Domain),
		id: func(r *api.CreatedMailboxes) string {
			if len(r.Created)+len(r.Failed) == 0 {
				return ""
			}
			return body.Domain
		},
		find: func(ctx context.Context) ([]api.CreatedMailboxes, error) {
			var err error
			if found, err = c.findMailboxes(ctx, body); err != nil || len(found.Created)+len(found.Failed) < len(body.Items) {
				return nil, err
			}
			return []api.CreatedMailboxes{*found}, nil
		},
		invalidate: c.mailboxes.InvalidateAll,
		effect:     "some of the mailboxes may have been created",
	})
	if err != nil {
		return nil, err
	}
	result := out.object
	if found != nil && !out.replayed {
		result = withCreatedBefore(result, found)
	}
	for i := range result.Created {
		c.mailboxes.Put(result.Created[i].Mailbox)
	}
	return result, nil
}

// findMailboxes returns the mailboxes of a bulk request that exist, as its
// response would. The second of two equal items has failed, as in the API.
func (c *Client) findMailboxes(ctx context.Context, body api.CreateMailboxesBody) (*api.CreatedMailboxes, error) {
	indexes := map[string][]int{} // of items, by local part
	for i, item := range body.Items {
		key := localPartKey(item.LocalPart)
		indexes[key] = append(indexes[key], i)
	}
	r := &api.CreatedMailboxes{}
	for m, err := range c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: body.Domain}) {
		if err != nil {
			return nil, err
		}
		if !inDomain(&m, body.Domain) {
			continue
		}
		found := false
		for _, i := range indexes[localPartKey(m.LocalPart)] {
			switch {
			case !hasNames(&m, body.Items[i]):
			case !found:
				found = true
				r.Created = append(r.Created, api.CreatedMailboxItem{Index: i, Mailbox: m})
			default:
				r.Failed = append(r.Failed, api.FailedMailboxItem{
					Code: api.BulkDuplicateInRequest, Index: i, Message: "the request asks for this mailbox twice",
				})
			}
		}
	}
	return r, nil
}

// withCreatedBefore returns a response in which the items count as created that
// failed because an earlier attempt had created them.
func withCreatedBefore(response, before *api.CreatedMailboxes) *api.CreatedMailboxes {
	existing := map[int]api.CreatedMailboxItem{}
	for _, item := range before.Created {
		existing[item.Index] = item
	}
	r := &api.CreatedMailboxes{Created: response.Created}
	for _, item := range response.Failed {
		if was, ok := existing[item.Index]; ok && item.Code == api.BulkAlreadyExists {
			r.Created = append(r.Created, was)
			continue
		}
		r.Failed = append(r.Failed, item)
	}
	slices.SortFunc(r.Created, func(a, b api.CreatedMailboxItem) int { return cmp.Compare(a.Index, b.Index) })
	return r
}

// inDomain reports whether a mailbox is in a domain, by id or name.
func inDomain(m *api.Mailbox, domain string) bool {
	domain = normalizeDomain(domain)
	return normalizeID(m.DomainID) == domain || normalizeDomain(m.DomainName) == domain
}

func localPartKey(localPart string) string { return strings.ToLower(localPart) }

// hasNames reports whether a mailbox has the names of a request. One with the same
// address and other names existed before.
func hasNames(m *api.Mailbox, item api.NewMailboxItem) bool {
	return strings.TrimSpace(m.FirstName) == strings.TrimSpace(item.FirstName) &&
		strings.TrimSpace(m.LastName) == strings.TrimSpace(item.LastName)
}
