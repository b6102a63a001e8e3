package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// ListDomains returns the domains that match the request's filters.
func (c *Client) ListDomains(ctx context.Context, req api.ListDomainsRequest) iter.Seq2[api.Domain, error] {
	return list(ctx, c, api.ListDomains, req, domainKeys.ID)
}

// DomainAvailability reports whether a domain can be bought, and its price. The error is
// ErrReadUnsupported if the API lacks the operation.
func (c *Client) DomainAvailability(ctx context.Context, name string) (*api.DomainAvailability, error) {
	op := api.CheckDomainAvailability
	if c.operation(op.Spec).isAbsent() {
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	a, err := transport.Do(ctx, c.transport, op, &api.DomainAvailabilityRequest{Name: name})
	if IsUnsupported(err) || isMissing(err) || err == nil && a.DomainName == "" {
		c.operation(op.Spec).missing.Store(true) // 404 too: the API may read the path as a domain of this name
		return nil, unsupported(ErrReadUnsupported, op.Spec, name)
	}
	return a, err
}

// FindDomain looks a domain up by its name.
func (c *Client) FindDomain(ctx context.Context, name string) (*api.Domain, error) {
	canonical := normalizeDomain(name)
	return c.Domains.share(ctx, canonical, func(ctx context.Context) (*api.Domain, error) {
		domains := c.ListDomains(ctx, api.ListDomainsRequest{Search: canonical})
		found, err := filter(domains, func(d *api.Domain) bool { return normalizeDomain(d.Name) == canonical })
		return c.Domains.one(name, found, err)
	})
}

// PurchasedDomain is a domain that was bought, or that the account owned before.
type PurchasedDomain struct {
	*api.Domain        // after a purchase only the name, the workspace, the status, and the id if the API returned it
	PaymentURL  string // where to pay, if a payment is needed
	Adopted     bool   // the account owned the domain already, and nothing was bought
}

const checkPurchase = "Check the account's domains and its payments before trying again."

// PurchaseDomain buys a domain, unless the account owns it already. It sets the domains of the
// body. If the API reports the purchase as failed, the error is an *Error with the error code as
// the type of its problem.
func (c *Client) PurchaseDomain(ctx context.Context, name string, body api.PurchaseDomainsBody) (*PurchasedDomain, error) {
	owned, err := c.Domains.cached(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("nothing was bought, because the account's domains can't be listed: %w", err)
	}
	if owned != nil {
		return &PurchasedDomain{Domain: owned, Adopted: true}, nil
	}
	body.Domains = []string{name}
	bought, call, err := create(ctx, c, api.PurchaseDomains, &api.PurchaseDomainsRequest{Body: body}, createSpec[api.Purchase]{
		object: name,
		id: func(p *api.Purchase) string {
			if len(p.Results) == 0 {
				return ""
			}
			return cmp.Or(api.Value(p.PurchaseBatchID), p.Results[0].DomainName)
		},
		find:       func(ctx context.Context) ([]api.Purchase, error) { return c.findPurchase(ctx, name) },
		invalidate: c.Domains.cache.Invalidate,
		facts:      facts{paid: true},
		effect:     "the domain may have been bought",
		check:      checkPurchase,
	})
	if err != nil {
		return nil, err
	}
	r := bought.Results[0]
	isKnown := r.Status == api.PurchasePurchased || r.Status == api.PurchasePendingPayment || r.Status == api.PurchaseFailed
	isFailed := r.Status == api.PurchaseFailed || !isKnown && cmp.Or(api.Value(r.ErrorCode), api.Value(r.Error)) != ""
	if !isKnown && !isFailed && api.Value(r.ID) == "" {
		found, err := untilListed(ctx, c, func() ([]api.Purchase, error) { return c.findPurchase(ctx, name) })
		if len(found) == 0 {
			return nil, &UnknownOutcomeError{
				Operation: api.PurchaseDomains.ID, Object: name, Effect: "the domain may have been bought", Lookup: err,
				Cause: c.differs(api.PurchaseDomains.Spec, "the status of the purchase is %q, which the API's contract lacks", transport.Clean(r.Status)),
				Check: checkPurchase,
			}
		}
		r = found[0].Results[0]
	}
	if !isFailed {
		d := &api.Domain{ID: api.Value(r.ID), Name: cmp.Or(r.DomainName, name), WorkspaceID: body.WorkspaceID, Status: r.Status}
		if r.Status == api.PurchasePurchased {
			d.Status = vocab.DomainPending // until it is read
		}
		return &PurchasedDomain{Domain: d, PaymentURL: api.Value(bought.PaymentURL)}, nil
	}
	if api.Value(r.ErrorCode) == api.PurchaseAlreadyOwned {
		if owned, _ := c.Domains.cached(ctx, name); owned != nil {
			// An attempt without a response may have bought it.
			return &PurchasedDomain{Domain: owned, Adopted: !call.AnyUnknown}, nil
		}
	}
	return nil, purchaseFailed(name, r, call.RequestID)
}

// findPurchase returns a purchase of the name if the account owns the domain. It reads the list
// without a filter, because a domain missed by the API's search would be bought twice.
func (c *Client) findPurchase(ctx context.Context, name string) ([]api.Purchase, error) {
	name = normalizeDomain(name)
	found, err := filter(c.ListDomains(ctx, api.ListDomainsRequest{}), func(d *api.Domain) bool { return normalizeDomain(d.Name) == name })
	if len(found) == 0 {
		return nil, err
	}
	d, status := &found[0], api.PurchasePurchased
	if d.Status == vocab.DomainPendingPayment {
		status = api.PurchasePendingPayment
	}
	return []api.Purchase{{Results: []api.PurchaseResult{{DomainName: d.Name, Status: status, ID: &d.ID}}}}, nil
}

func purchaseFailed(name string, r api.PurchaseResult, requestID string) *Error {
	code := api.Value(r.ErrorCode)
	return &Error{
		Status:    api.PurchaseDomains.Status,
		RequestID: requestID,
		Operation: api.PurchaseDomains.ID,
		Object:    name,
		Problems: []Problem{{
			Loc:  []string{"body", "domains", "0"},
			Msg:  transport.Clean(cmp.Or(api.Value(r.Error), code, "the purchase failed without a reason")),
			Type: code,
		}},
	}
}

// UpdateDomain changes the settings of a domain that are set in body.
func (c *Client) UpdateDomain(ctx context.Context, domain string, body api.UpdateDomainBody) error {
	_, _, err := write(ctx, c.Domains, api.UpdateDomain, &api.UpdateDomainRequest{Domain: domain, Body: body}, domain, ErrUpdateUnsupported)
	return err
}
