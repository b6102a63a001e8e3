package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// PurchasedDomain is a domain that was bought, or that the account owned before.
type PurchasedDomain struct {
	// ID may be empty where the API does not tell it yet; Name always names the
	// domain.
	ID, Name string
	// Status is that of the domain, or of its purchase.
	Status string
	// PaymentURL is where to pay, if a payment is needed.
	PaymentURL string
	// Adopted: the account owned the domain already; nothing was bought. Domain
	// is what it is; nil after a purchase.
	Adopted bool
	Domain  *api.Domain
}

// PurchaseDomain buys one domain, unless the account owns it already. A purchase
// that the API reports as failed is an *Error with the error code as the type of
// its problem.
func (c *Client) PurchaseDomain(ctx context.Context, name, workspaceID string, contact api.ContactInfo) (*PurchasedDomain, error) {
	owned, err := c.domains.get(ctx, name, 0)
	if err != nil {
		return nil, fmt.Errorf("nothing was bought, because the account's domains can't be listed: %w", err)
	}
	if owned != nil {
		return adopted(owned), nil
	}
	p, cr, err := c.purchase(ctx, api.PurchaseDomainsBody{Domains: []string{name}, WorkspaceID: workspaceID, ContactInfo: contact}, nil)
	if err != nil {
		return nil, err
	}
	r := resultFor(p, name)
	if r.Status != api.PurchaseFailed {
		return &PurchasedDomain{ID: value(r.ID), Name: r.DomainName, Status: r.Status, PaymentURL: value(p.PaymentURL)}, nil
	}
	if value(r.ErrorCode) == api.PurchaseAlreadyOwned {
		// The list that was looked at is older than the domain.
		if owned, err := c.domains.get(ctx, name, c.domains.now()); err == nil && owned != nil {
			return adopted(owned), nil
		}
	}
	return nil, purchaseFailed(name, r, cr.requestID)
}

// PurchaseDomains buys domains, each reported on its own. It looks first which
// of them the account owns, to know after a lost answer which are new.
func (c *Client) PurchaseDomains(ctx context.Context, body api.PurchaseDomainsBody) (*api.Purchase, error) {
	owned := map[string]bool{}
	for _, name := range body.Domains {
		d, err := c.domains.get(ctx, name, 0)
		if err != nil {
			return nil, fmt.Errorf("nothing was bought, because the account's domains can't be listed: %w", err)
		}
		owned[foldDomain(name)] = d != nil
	}
	p, _, err := c.purchase(ctx, body, owned)
	return p, err
}

// purchase buys domains; owned are those that the account had before, by
// canonical name.
func (c *Client) purchase(ctx context.Context, body api.PurchaseDomainsBody, owned map[string]bool) (*api.Purchase, *creation[api.Purchase], error) {
	cr := &creation[api.Purchase]{
		object: strings.Join(body.Domains, ", "),
		id: func(p *api.Purchase) string {
			if len(p.Results) == 0 {
				return ""
			}
			return cmp.Or(value(p.PurchaseBatchID), p.Results[0].DomainName)
		},
		find:   func(ctx context.Context) ([]api.Purchase, error) { return c.bought(ctx, body.Domains, owned) },
		forget: c.domains.invalidate,
		paid:   true,
		may:    "the domain may have been bought",
		check:  "Check the account's domains and its payments before trying again.",
	}
	p, err := create(ctx, c, api.PurchaseDomains, &api.PurchaseDomainsRequest{Body: body}, cr)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range p.Results {
		c.domains.touch(r.DomainName)
		c.domains.touch(value(r.ID))
	}
	return p, cr, nil
}

// bought looks which of the domains the account owns now that it did not own
// before. The list is read unfiltered: what a filter misses would be bought
// twice. A purchase of which only a part is there can't be judged.
func (c *Client) bought(ctx context.Context, names []string, owned map[string]bool) ([]api.Purchase, error) {
	found := map[string]api.Domain{}
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return nil, err
		}
		found[foldDomain(d.Name)] = d
	}
	var p api.Purchase
	var missing []string
	for _, name := range names {
		d, ok := found[foldDomain(name)]
		switch {
		case owned[foldDomain(name)]:
			p.FailedCount++
			code, reason := api.PurchaseAlreadyOwned, "the account owns this domain already"
			p.Results = append(p.Results, api.PurchaseResult{DomainName: name, Status: api.PurchaseFailed, ErrorCode: &code, Error: &reason})
		case ok:
			p.SuccessfulCount++
			p.Results = append(p.Results, api.PurchaseResult{DomainName: d.Name, Status: purchaseStatus(&d), ID: &d.ID})
		default:
			missing = append(missing, name)
		}
	}
	switch {
	case p.SuccessfulCount == 0:
		return nil, nil
	case len(missing) > 0:
		return nil, fmt.Errorf("the account owns some of the domains now, but not %s", strings.Join(missing, ", "))
	}
	return []api.Purchase{p}, nil
}

func purchaseStatus(d *api.Domain) string {
	if d.Status == vocab.DomainPendingPayment {
		return api.PurchasePendingPayment
	}
	return api.PurchasePurchased
}

// resultFor returns the result for a name; where the API reports one result
// under another spelling, that one.
func resultFor(p *api.Purchase, name string) api.PurchaseResult {
	i := slices.IndexFunc(p.Results, func(r api.PurchaseResult) bool { return foldDomain(r.DomainName) == foldDomain(name) })
	r := p.Results[max(i, 0)]
	r.DomainName = cmp.Or(r.DomainName, name)
	return r
}

func purchaseFailed(name string, r api.PurchaseResult, requestID string) *Error {
	code := value(r.ErrorCode)
	return &Error{
		Status:     api.PurchaseDomains.Status,
		RequestID:  requestID,
		Operation:  api.PurchaseDomains.ID,
		Object:     name,
		collection: true,
		Problems: []Problem{{
			Loc:  []string{"body", "domains", "0"},
			Msg:  clean(cmp.Or(value(r.Error), code, "the purchase failed without a reason"), maxMessage),
			Type: code,
		}},
	}
}

func adopted(d *api.Domain) *PurchasedDomain {
	return &PurchasedDomain{ID: d.ID, Name: d.Name, Status: d.Status, Adopted: true, Domain: d}
}

// value returns *p, or the zero value where there is none.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
