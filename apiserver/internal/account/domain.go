package account

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// ListDomains implements api.ListDomains.
func ListDomains(c *Call, in *api.ListDomainsRequest) (*api.Page[api.Domain], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Domain, int, error) {
		return r.Domains(c.caller.AccountID, store.DomainFilter{
			WorkspaceID: in.WorkspaceID, Status: in.Status, Now: c.at, Tag: in.Tag, Search: in.Search,
			Within: c.caller.Within(c.spec.Capability),
		}, s)
	}, c.domain)
}

// GetDomain implements api.GetDomain.
func GetDomain(c *Call, in *api.DomainRequest) (*api.Domain, error) {
	return view(c, func(r store.Reader) (*api.Domain, error) {
		d, err := c.findDomain(r, in.Domain)
		if err != nil {
			return nil, statusOf(err, "domain", "domain")
		}
		return new(c.domain(d)), nil
	})
}

// CheckDomainAvailability reports what a purchase of one domain would report, and
// its price, without buying it.
func CheckDomainAvailability(c *Call, in *api.DomainAvailabilityRequest) (*api.DomainAvailability, error) {
	offer := c.rules.settings.Get().Registrar.Offer(in.Name)
	return view(c, func(r store.Reader) (*api.DomainAvailability, error) {
		out := &api.DomainAvailability{DomainName: cmp.Or(offer.Name, in.Name)}
		code, reason := offer.Code, offer.Reason
		_, err := c.findDomain(r, offer.Name)
		switch taken, takenErr := r.DomainTaken(offer.Name); {
		case err == nil:
			code, reason = api.PurchaseAlreadyOwned, "the account owns this domain already"
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		case takenErr != nil:
			return nil, takenErr
		case taken && code == "":
			code, reason = api.PurchaseUnavailable, "the domain is registered already"
		}
		if code != "" {
			out.ErrorCode, out.Error = &code, &reason
			return out, nil
		}
		out.Available, out.Price, out.Currency = true, &offer.Price, &offer.Currency
		return out, nil
	})
}

// UpdateDomain implements api.UpdateDomain.
func UpdateDomain(c *Call, in *api.UpdateDomainRequest) (*api.DomainSettings, error) {
	return transact(c, func(tx store.Tx) (*api.DomainSettings, error) {
		d, err := c.findDomain(tx, in.Domain)
		if err != nil {
			return nil, statusOf(err, "domain", "domain")
		}
		if d, err = tx.UpdateDomain(d.AccountID, d.ID, func(d *store.Domain) error {
			if in.Body.AutoRenew != nil {
				d.AutoRenew = *in.Body.AutoRenew
			}
			if redirect := in.Body.RedirectURL; redirect.Null {
				d.RedirectURL, d.RedirectMode = "", ""
			} else if redirect.Sent {
				d.RedirectURL, d.RedirectMode = redirect.Value, cmp.Or(d.RedirectMode, vocab.RedirectPermanent)
			}
			d.UpdatedAt = c.at
			if in.Body.WorkspaceID == nil {
				return nil
			}
			d.WorkspaceID = *in.Body.WorkspaceID
			return c.workspaceInBody(tx, d.WorkspaceID)
		}); err != nil {
			return nil, err
		}
		return &api.DomainSettings{ID: d.ID, AutoRenew: d.AutoRenew, WorkspaceID: d.WorkspaceID, RedirectURL: optional(d.RedirectURL)}, nil
	})
}

// DeleteDomain implements api.DeleteDomain.
func DeleteDomain(c *Call, in *api.DomainRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		d, err := c.findDomain(tx, in.Domain)
		if err != nil {
			return nil, statusOf(err, "domain", "domain")
		}
		_, n, err := tx.Mailboxes(d.AccountID, store.MailboxFilter{DomainID: d.ID}, store.Slice{})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, api.Conflict("the domain %s (%s) still has mailboxes (%d); delete them first", d.Name, d.ID, n)
		}
		return &api.NoContent{}, tx.DeleteDomain(d.AccountID, d.ID, c.at)
	})
}

// order is one domain of a purchase request.
type order struct {
	requested string
	offer     registrar.Offer
	id        string
}

// PurchaseDomains implements api.PurchaseDomains.
func PurchaseDomains(c *Call, in *api.PurchaseDomainsRequest) (*api.Purchase, error) {
	batch := c.rules.random.ID()
	registrant, err := json.Marshal(in.Body.ContactInfo)
	if err != nil {
		return nil, err
	}
	prices, orders := c.rules.settings.Get().Registrar, make([]order, len(in.Body.Domains))
	for i, name := range in.Body.Domains {
		orders[i] = order{requested: name, offer: prices.Offer(name), id: c.rules.random.ID()}
	}
	return transact(c, func(tx store.Tx) (*api.Purchase, error) {
		if err := c.workspaceInBody(tx, in.Body.WorkspaceID); err != nil {
			return nil, err
		}
		out := &api.Purchase{Results: make([]api.PurchaseResult, len(orders)), PurchaseBatchID: &batch}
		var bill registrar.Bill
		for i, o := range orders {
			result, err := c.purchaseOne(tx, o, in.Body.WorkspaceID, batch, registrant)
			if err != nil {
				return nil, err
			}
			out.Results[i] = result
			if result.Status == api.PurchaseFailed {
				out.FailedCount++
				continue
			}
			out.SuccessfulCount++
			bill.Add(o.offer)
		}
		c.unchanged = out.SuccessfulCount == 0
		if bill.Currency != "" {
			out.Currency, out.EstimatedTotal = &bill.Currency, new(bill.Total())
		}
		if bill.PaymentNeeded {
			out.PaymentURL = new(c.rules.publicURL + PaymentPath + batch)
		}
		return out, nil
	})
}

// purchaseOne buys one domain, or reports why it can't be bought.
func (c *Call) purchaseOne(tx store.Tx, o order, workspaceID, batch string, registrant []byte) (api.PurchaseResult, error) {
	result := api.PurchaseResult{DomainName: o.requested}
	refuse := func(code, msg string) (api.PurchaseResult, error) {
		result.Status, result.ErrorCode, result.Error = api.PurchaseFailed, &code, &msg
		return result, nil
	}
	if o.offer.Name != "" {
		result.DomainName = o.offer.Name
		owned, err := c.findDomain(tx, o.offer.Name)
		if err == nil {
			if sees(c.caller.Within(vocab.CapDomainView), owned.WorkspaceID, owned.ID) {
				result.ID = &owned.ID
			}
			return refuse(api.PurchaseAlreadyOwned, "the account owns this domain already")
		}
		if !errors.Is(err, store.ErrNotFound) {
			return result, err
		}
	}
	if o.offer.Code != "" {
		return refuse(o.offer.Code, o.offer.Reason)
	}
	d := store.Domain{
		ID: o.id, AccountID: c.caller.AccountID, WorkspaceID: workspaceID, Name: o.offer.Name,
		State: o.offer.State(c.at), OutboundRoutingReady: true, Registrant: registrant, PurchaseBatchID: batch, CreatedAt: c.at,
	}
	err := tx.CreateDomain(&d)
	if _, ok := errors.AsType[*store.ExistsError](err); ok {
		if err := c.checkOverdue(tx, "", d.Name); err != nil {
			return result, err
		}
		return refuse(api.PurchaseUnavailable, "the domain is registered already")
	}
	if err == nil {
		err = AddMailRecords(c.rules.random, tx, d)
	}
	result.ID, result.Status = &d.ID, api.PurchasePurchased
	if o.offer.PaymentNeeded {
		result.Status = api.PurchasePendingPayment
	}
	return result, err
}

func (c *Call) domain(d store.Domain) api.Domain {
	tags := make([]api.Tag, len(d.Tags))
	for i, t := range d.Tags {
		tags[i] = api.Tag(t)
	}
	return api.Domain{
		ID: d.ID, Name: d.Name, Status: d.State.At(c.at),
		OutboundRoutingReady: d.OutboundRoutingReady && d.State.At(c.at) == vocab.DomainActive,
		WorkspaceID:          d.WorkspaceID, AutoRenew: d.AutoRenew, DedicatedIPID: optional(d.DedicatedIPID),
		InboundTenantID: optional(d.InboundTenant.ID), InboundTenantExternalID: optional(d.InboundTenant.ExternalID),
		InboundTenantName: optional(d.InboundTenant.Name), InboundTenantType: optional(d.InboundTenant.Type),
		RedirectMode: optional(d.RedirectMode), RedirectURL: optional(d.RedirectURL), Tags: tags,
		CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt),
	}
}
