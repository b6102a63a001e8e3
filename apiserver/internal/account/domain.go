package account

import (
	"cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// domainOperations binds the operations on domains to their rules. domain_purchase.go creates
// domains.
var domainOperations = []Operation{
	read(api.CheckDomainAvailability, checkDomainAvailability),
	change(api.PurchaseDomains, purchaseDomains),
	read(api.ListDomains, listDomains),
	read(api.GetDomain, getDomain),
	change(api.UpdateDomain, updateDomain),
	remove(api.DeleteDomain, deleteDomain),
}

func listDomains(c *Call, r store.Reader, in *api.ListDomainsRequest) (*api.Page[api.Domain], error) {
	return page(c, in.Paged, c.domain, r.Domains, store.DomainFilter{
		WorkspaceID: in.WorkspaceID, Status: in.Status, Now: c.Arrival, Tag: in.Tag, Search: in.Search, Within: c.within(),
	})
}

func getDomain(c *Call, r store.Reader, in *api.DomainRequest) (*api.Domain, error) {
	d, err := c.findDomain(r, in.Domain)
	return new(c.domain(d)), err
}

// updateDomain changes the given settings. A redirect_url of null removes the redirect. A new
// redirect uses status 301.
func updateDomain(c *Call, tx store.Tx, in *api.UpdateDomainRequest) (*api.DomainSettings, error) {
	d, err := c.findDomain(tx, in.Domain)
	if err != nil {
		return nil, err
	}
	d, err = store.Update(tx, d.AccountID, d.ID, func(d *store.Domain) error {
		if in.Body.AutoRenew != nil {
			d.AutoRenew = *in.Body.AutoRenew
		}
		if redirect := in.Body.RedirectURL; redirect.Null {
			d.RedirectURL, d.RedirectMode = "", ""
		} else if redirect.Sent {
			d.RedirectURL, d.RedirectMode = redirect.Value, cmp.Or(d.RedirectMode, vocab.RedirectPermanent)
		}
		d.UpdatedAt = c.Arrival
		if in.Body.WorkspaceID == nil || *in.Body.WorkspaceID == d.WorkspaceID {
			return nil
		}
		from := *d
		d.WorkspaceID = *in.Body.WorkspaceID
		if err := c.workspaceInBody(tx, d.WorkspaceID); err != nil {
			return err
		}
		return c.checkMove(from, d.WorkspaceID)
	})
	return &api.DomainSettings{ID: d.ID, AutoRenew: d.AutoRenew, WorkspaceID: d.WorkspaceID, RedirectURL: optional(d.RedirectURL)}, err
}

// checkMove returns a 403 if moving a domain would extend the caller's capabilities to it.
func (c *Call) checkMove(from store.Domain, workspaceID string) error {
	for _, g := range c.Caller.Grants {
		if g.ResourceID == workspaceID && !sees(c.Caller.Within(vocab.Capability(g.CapabilityKey)), from.WorkspaceID, from.ID) {
			return api.Forbidden("the credential can't move the domain %s into this workspace, because it would gain %s for it", from.Name, g.CapabilityKey)
		}
	}
	return nil
}

func deleteDomain(c *Call, tx store.Tx, in *api.DomainRequest) error {
	d, err := c.findDomain(tx, in.Domain)
	if err != nil {
		return err
	}
	_, n, err := tx.Mailboxes(d.AccountID, store.MailboxFilter{DomainID: d.ID}, store.Slice{})
	if err != nil {
		return err
	}
	if n > 0 {
		return api.Conflict("the domain %s (%s) still has mailboxes (%d); delete them first", d.Name, d.ID, n)
	}
	return store.Delete[store.Domain](tx, d.AccountID, d.ID, c.Arrival)
}

func (c *Call) domain(d store.Domain) api.Domain {
	status := d.State.At(c.Arrival)
	return api.Domain{
		ID: d.ID, Name: d.Name, Status: status, OutboundRoutingReady: d.OutboundRoutingReady && status == vocab.DomainActive,
		WorkspaceID: d.WorkspaceID, AutoRenew: d.AutoRenew, DedicatedIPID: optional(d.DedicatedIPID),
		InboundTenantID: optional(d.InboundTenant.ID), InboundTenantExternalID: optional(d.InboundTenant.ExternalID),
		InboundTenantName: optional(d.InboundTenant.Name), InboundTenantType: optional(d.InboundTenant.Type),
		RedirectMode: optional(d.RedirectMode), RedirectURL: optional(d.RedirectURL),
		Tags:      objects(d.Tags, func(t store.Tag) api.Tag { return api.Tag(t) }),
		CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt),
	}
}
