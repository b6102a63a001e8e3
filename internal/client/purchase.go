package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

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

// Purchases with the same contact and workspace are sent as one. A purchase takes seconds,
// so that it may wait a moment for others.
const (
	maxPurchase      = 100 // domains
	purchaseQuiet    = 200 * time.Millisecond
	maxPurchaseDelay = 2 * time.Second
)

// wantedDomain is a domain to buy.
type wantedDomain struct {
	name, workspaceID string
	contact           api.ContactInfo
}

// purchaseOutcome is the outcome of one domain of a purchase: its result, or an error.
type purchaseOutcome struct {
	result     api.PurchaseResult
	paymentURL string
	requestID  string
	err        error
}

type purchases = batcher[wantedDomain, purchaseOutcome]

func newPurchases(c *Client) *purchases {
	p := &purchases{max: maxPurchase, hooks: c.transport.Hooks, send: c.purchase}
	p.ready = func(ctx context.Context, b *batch[wantedDomain, purchaseOutcome]) (*transport.Permit, error) {
		// Each of them has sent requests of its own before, which a limit spaces.
		p.gather(ctx, b, maxPurchase, purchaseQuiet+2*c.transport.RequestInterval(), maxPurchaseDelay)
		return nil, ctx.Err()
	}
	return p
}

// PurchaseDomain buys a domain, unless the account owns it already. Purchases at the same
// time with the same contact and workspace are sent as one. A purchase that the API reports
// as failed is an *Error with the error code as the type of its problem.
func (c *Client) PurchaseDomain(ctx context.Context, name, workspaceID string, contact api.ContactInfo) (*PurchasedDomain, error) {
	owned, err := c.domains.Get(ctx, name, 0)
	if err != nil {
		return nil, fmt.Errorf("nothing was bought, because the account's domains can't be listed: %w", err)
	}
	if owned != nil {
		return adopted(owned), nil
	}
	out, err := c.purchaseWithOthers(ctx, wantedDomain{name, workspaceID, contact})
	if err != nil {
		return nil, err
	}
	r := out.result
	if r.Status != api.PurchaseFailed {
		return &PurchasedDomain{ID: value(r.ID), Name: r.DomainName, Status: r.Status, PaymentURL: out.paymentURL}, nil
	}
	if value(r.ErrorCode) == api.PurchaseAlreadyOwned {
		// The cached list is older than the domain.
		if owned, err := c.domains.Get(ctx, name, c.domains.Version()); err == nil && owned != nil {
			return adopted(owned), nil
		}
	}
	return nil, purchaseFailed(name, r, out.requestID)
}

// purchaseWithOthers buys a domain together with those that others buy now.
func (c *Client) purchaseWithOthers(ctx context.Context, wanted wantedDomain) (out purchaseOutcome, err error) {
	key, err := json.Marshal([]any{wanted.workspaceID, wanted.contact})
	if err != nil {
		return out, err
	}
	canonical := normalizeDomain(wanted.name)
	isAlone := !c.purchases.isFirst(string(key), func(other wantedDomain) bool { return normalizeDomain(other.name) == canonical })
	if !isAlone {
		out, isAlone, _, err = c.purchases.join(ctx, string(key), wanted)
	}
	switch {
	case errors.Is(err, errNoOutcome):
		c.domains.InvalidateAll()
		return out, purchaseUnknown(wanted.name, ctx.Err(), err)
	case err != nil:
		return out, transport.Unsent(api.PurchaseDomains.Spec, wanted.name, err)
	case isAlone:
		out = c.purchase(ctx, []wantedDomain{wanted})[0]
	}
	return out, out.err
}

// purchase buys domains with one contact and workspace by one request. Whatever happens to
// the request, the domains that the account owns afterwards count as bought, and the request
// is not sent again for any other part of them: the outcome of a domain that was in a lost
// request, and is not in the list while others of it are, is unknown.
func (c *Client) purchase(ctx context.Context, wanted []wantedDomain) []purchaseOutcome {
	names := make([]string, len(wanted))
	for i := range wanted {
		names[i] = wanted[i].name
	}
	found, lookups := map[string]api.PurchaseResult{}, 0
	body := api.PurchaseDomainsBody{Domains: names, WorkspaceID: wanted[0].workspaceID, ContactInfo: wanted[0].contact}
	bought, err := create(ctx, c.core, api.PurchaseDomains, &api.PurchaseDomainsRequest{Body: body}, createSpec[api.Purchase]{
		object: purchaseObject(names),
		id: func(p *api.Purchase) string {
			if len(p.Results) == 0 {
				return ""
			}
			return cmp.Or(value(p.PurchaseBatchID), p.Results[0].DomainName)
		},
		find: func(ctx context.Context) ([]api.Purchase, error) {
			lookups++
			if err := c.findPurchased(ctx, names, found); err != nil {
				return nil, err
			}
			// The request is sent again if nothing is found; if a part is, only to an API that
			// responds to its key without a second purchase.
			if len(found) == len(names) || len(found) > 0 && lookups%paidLookups == 0 && !c.transport.HonoursKeys.Load() {
				return []api.Purchase{{}}, nil // everything is in found
			}
			return nil, nil
		},
		invalidate: c.domains.InvalidateAll,
		facts:      paid | once,
		effect:     "the domain may have been bought",
		check:      purchaseCheck,
	})
	if len(names) > 1 && lookups == 0 && isBadRequest(err) {
		return c.purchaseEach(ctx, wanted)
	}
	outcomes := make([]purchaseOutcome, len(names))
	for i, name := range names {
		o := &outcomes[i]
		r, isFound := found[normalizeDomain(name)]
		switch {
		case err != nil && isFound:
			o.result = r
		case err != nil:
			o.err = errorOfDomain(err, name)
		default:
			*o = c.purchaseOutcome(bought, name, len(names))
			if isFound && (o.err != nil || value(o.result.ErrorCode) == api.PurchaseAlreadyOwned) {
				*o = purchaseOutcome{result: r, requestID: bought.requestID}
			}
		}
		c.domains.Invalidate(name)
		c.domains.Invalidate(o.result.DomainName)
		c.domains.Invalidate(value(o.result.ID))
	}
	return outcomes
}

// purchaseEach buys domains one by one after the API has refused to buy them together, so
// that one of them does not stop the others and each has its own error.
func (c *Client) purchaseEach(ctx context.Context, wanted []wantedDomain) []purchaseOutcome {
	outcomes := make([]purchaseOutcome, len(wanted))
	for i := range wanted {
		outcomes[i] = c.purchase(ctx, wanted[i:i+1])[0]
	}
	return outcomes
}

// isBadRequest reports whether the API has refused a request as a whole because of what is
// in it.
func isBadRequest(err error) bool {
	switch StatusOf(err) {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// purchaseOutcome returns the outcome that a response has for one of its domains.
func (c *Client) purchaseOutcome(bought *createOutcome[api.Purchase], name string, domains int) purchaseOutcome {
	results := bought.object.Results
	i := slices.IndexFunc(results, func(r api.PurchaseResult) bool { return normalizeDomain(r.DomainName) == normalizeDomain(name) })
	if i < 0 && domains == 1 && len(results) > 0 {
		i = 0 // under another spelling
	}
	if i < 0 {
		return purchaseOutcome{err: purchaseUnknown(name, nil, nil)}
	}
	r := results[i]
	r.DomainName = cmp.Or(r.DomainName, name)
	return purchaseOutcome{result: r, paymentURL: value(bought.object.PaymentURL), requestID: bought.requestID}
}

// findPurchased adds the names to found that the account owns now. It did not own them
// before. It reads the list without a filter, because a domain that the API's search misses
// would be bought twice.
func (c *Client) findPurchased(ctx context.Context, names []string, found map[string]api.PurchaseResult) error {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[normalizeDomain(name)] = true
	}
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return err
		}
		key := normalizeDomain(d.Name)
		if !wanted[key] {
			continue
		}
		status := api.PurchasePurchased
		if d.Status == vocab.DomainPendingPayment {
			status = api.PurchasePendingPayment
		}
		found[key] = api.PurchaseResult{DomainName: d.Name, Status: status, ID: &d.ID}
	}
	return nil
}

func purchaseObject(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%d domains", len(names))
}

const purchaseCheck = "Check the account's domains and its payments before trying again."

func purchaseUnknown(name string, cause, lookup error) error {
	return &UnknownOutcomeError{
		Operation: api.PurchaseDomains.ID, Object: name, Effect: "the domain may have been bought", Check: purchaseCheck, Cause: cause, Lookup: lookup,
	}
}

// errorOfDomain returns the error of a purchase for one of its domains.
func errorOfDomain(err error, name string) error {
	switch e := err.(type) {
	case *UnknownOutcomeError:
		own := *e
		own.Object = name
		own.Cause = errorOfDomain(e.Cause, name)
		return &own
	case *Error:
		own := *e
		own.Object = name
		return &own
	}
	return err
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
