package client

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// PurchasedDomain is a domain that was bought, or that the account owned before.
type PurchasedDomain struct {
	// ID may be empty, if the API does not return it yet; Name always names the
	// domain.
	ID, Name string
	// Status is that of the domain, or of its purchase.
	Status string
	// PaymentURL is where to pay, if a payment is needed.
	PaymentURL string
	// Adopted: the account owned the domain already, and nothing was bought.
	Adopted bool
	// Domain is the adopted domain; nil after a purchase.
	Domain *api.Domain
}

// PurchaseDomain buys a domain by a request of its own, unless the account owns it already.
// A purchase that the API reports as failed is an *Error with the error code as the type of
// its problem.
func (c *Client) PurchaseDomain(ctx context.Context, name, workspaceID string, contact api.ContactInfo) (*PurchasedDomain, error) {
	owned, err := c.domains.Get(ctx, name, 0)
	if err != nil {
		return nil, fmt.Errorf("nothing was bought, because the account's domains can't be listed: %w", err)
	}
	if owned != nil {
		return adopted(owned), nil
	}
	body := api.PurchaseDomainsBody{Domains: []string{name}, WorkspaceID: workspaceID, ContactInfo: contact}
	out, err := create(ctx, c.core, api.PurchaseDomains, &api.PurchaseDomainsRequest{Body: body}, createSpec[api.Purchase]{
		object: name,
		id: func(p *api.Purchase) string {
			if len(p.Results) == 0 {
				return ""
			}
			return cmp.Or(value(p.PurchaseBatchID), p.Results[0].DomainName)
		},
		find:       func(ctx context.Context) ([]api.Purchase, error) { return c.findPurchase(ctx, name) },
		invalidate: c.domains.InvalidateAll,
		facts:      paid | once,
		effect:     "the domain may have been bought",
		check:      "Check the account's domains and its payments before trying again.",
	})
	if err != nil {
		return nil, err
	}
	r := out.object.Results[0]
	d := &PurchasedDomain{ID: value(r.ID), Name: cmp.Or(r.DomainName, name), Status: r.Status, PaymentURL: value(out.object.PaymentURL)}
	for _, key := range []string{name, d.Name, d.ID} {
		c.domains.Invalidate(key)
	}
	if r.Status != api.PurchaseFailed {
		return d, nil
	}
	if value(r.ErrorCode) == api.PurchaseAlreadyOwned {
		// The cached list is older than the domain.
		if owned, err := c.domains.Get(ctx, name, c.domains.Version()); err == nil && owned != nil {
			return adopted(owned), nil
		}
	}
	return nil, purchaseFailed(name, r, out.requestID)
}

// findPurchase returns a purchase of the name if the account owns it now. It did not own it
// before. It reads the list without a filter, because a domain that the API's search misses
// would be bought twice.
func (c *Client) findPurchase(ctx context.Context, name string) ([]api.Purchase, error) {
	name = normalizeDomain(name)
	found, err := filter(c.ListDomains(ctx, api.ListDomainsRequest{}), func(d *api.Domain) bool { return normalizeDomain(d.Name) == name })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	d, status := &found[0], api.PurchasePurchased
	if d.Status == vocab.DomainPendingPayment {
		status = api.PurchasePendingPayment
	}
	return []api.Purchase{{Results: []api.PurchaseResult{{DomainName: d.Name, Status: status, ID: &d.ID}}}}, nil
}

func purchaseFailed(name string, r api.PurchaseResult, requestID string) *Error {
	code := value(r.ErrorCode)
	return &Error{
		Status:    api.PurchaseDomains.Status,
		RequestID: requestID,
		Operation: api.PurchaseDomains.ID,
		Object:    name,
		Problems: []Problem{{
			Loc:  []string{"body", "domains", "0"},
			Msg:  transport.Clean(cmp.Or(value(r.Error), code, "the purchase failed without a reason")),
			Type: code,
		}},
	}
}

func adopted(d *api.Domain) *PurchasedDomain {
	return &PurchasedDomain{ID: d.ID, Name: d.Name, Status: d.Status, Adopted: true, Domain: d}
}
