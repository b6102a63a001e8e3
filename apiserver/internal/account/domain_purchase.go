package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/registrar"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// offer returns the registrar's offer for a name, and the domain if the account already owns it.
func (c *Call) offer(r store.Reader, requested string) (o registrar.Offer, owned store.Domain, err error) {
	if o = c.Rules.Settings.Get().Registrar.Offer(requested, c.Arrival); o.Name == "" {
		return o, owned, nil
	}
	owned, err = c.findDomain(r, o.Name)
	if errors.Is(err, store.ErrNotFound) {
		return o, store.Domain{}, nil
	}
	o.Code, o.Reason = api.PurchaseAlreadyOwned, "the account owns this domain already"
	return o, owned, err
}

// domainTaken is the reason for a domain that another account owns.
const domainTaken = "the domain is registered already"

// checkDomainAvailability returns the result and price of a purchase. A failed domain of the
// account also gets a price, because it can be deleted and purchased again.
func checkDomainAvailability(c *Call, r store.Reader, in *api.DomainAvailabilityRequest) (*api.DomainAvailability, error) {
	offer, owned, err := c.offer(r, in.Name)
	if err != nil {
		return nil, err
	}
	if taken, err := r.DomainTaken(offer.Name); err != nil {
		return nil, err
	} else if taken && offer.Code == "" {
		offer.Code, offer.Reason = api.PurchaseUnavailable, domainTaken
	}
	out := &api.DomainAvailability{DomainName: cmp.Or(offer.Name, in.Name), Available: offer.Code == ""}
	if !out.Available {
		out.ErrorCode, out.Error = &offer.Code, &offer.Reason
	}
	if out.Available || owned.State.At(c.Arrival) == vocab.DomainFailed {
		out.Price, out.Currency = &offer.Price, &offer.Currency
	}
	return out, nil
}

// purchaseDomains purchases domains. A domain that can't be purchased does not stop the others.
func purchaseDomains(c *Call, tx store.Tx, in *api.PurchaseDomainsRequest) (*api.Purchase, error) {
	registrant, unwritable := json.Marshal(in.Body.ContactInfo)
	if err := cmp.Or(unwritable, c.workspaceInBody(tx, in.Body.WorkspaceID)); err != nil {
		return nil, err
	}
	if err := c.expire(tx, c.Caller.AccountID, ""); err != nil {
		return nil, err
	}
	batch := c.Rules.Random.ID()
	out := &api.Purchase{Results: make([]api.PurchaseResult, len(in.Body.Domains)), PurchaseBatchID: &batch}
	var total big.Rat
	for i, requested := range in.Body.Domains {
		d := store.Domain{WorkspaceID: in.Body.WorkspaceID, Registrant: registrant, PurchaseBatchID: batch}
		result, offer, err := c.purchaseOne(tx, requested, d)
		if err != nil {
			return nil, err
		}
		out.Results[i] = result
		if result.Status == api.PurchaseFailed {
			out.FailedCount++
			continue
		}
		out.SuccessfulCount++
		if price, ok := new(big.Rat).SetString(offer.Price); ok {
			total.Add(&total, price)
		}
		out.Currency, out.EstimatedTotal = &offer.Currency, new(total.FloatString(2))
		if offer.PaymentNeeded {
			out.PaymentURL = new(c.Rules.PublicURL + PaymentPath + batch)
		}
	}
	c.unchanged = out.SuccessfulCount == 0
	return out, nil
}

// purchaseOne purchases d under the requested name, or reports why it can't.
func (c *Call) purchaseOne(tx store.Tx, requested string, d store.Domain) (api.PurchaseResult, registrar.Offer, error) {
	offer, owned, err := c.offer(tx, requested)
	if err != nil {
		return api.PurchaseResult{}, offer, err
	}
	result := api.PurchaseResult{DomainName: cmp.Or(offer.Name, requested), Status: api.PurchaseFailed, ErrorCode: &offer.Code, Error: &offer.Reason}
	if owned.ID != "" && sees(c.Caller.Within(vocab.CapDomainView), owned.WorkspaceID, owned.ID) {
		result.ID = &owned.ID
	}
	if offer.Code != "" {
		return result, offer, nil
	}
	d.ID, d.AccountID, d.Name = c.Rules.Random.ID(), c.Caller.AccountID, offer.Name
	d.State, d.OutboundRoutingReady, d.CreatedAt = offer.State, true, c.Arrival
	if err := c.expire(tx, "", d.Name); err != nil {
		return result, offer, err
	}
	err = tx.Create(&d)
	if _, exists := errors.AsType[*store.ExistsError](err); exists {
		offer.Code, offer.Reason = api.PurchaseUnavailable, domainTaken
		return result, offer, nil
	}
	if err == nil {
		err = AddMailRecords(c.Rules.Random, tx, d)
	}
	result = api.PurchaseResult{DomainName: d.Name, ID: &d.ID, Status: api.PurchasePurchased}
	if offer.PaymentNeeded {
		result.Status = api.PurchasePendingPayment
	}
	return result, offer, err
}

// PaymentPath precedes a purchase's batch id. The id is random, and the payment page requires
// nothing else.
const PaymentPath = "/pay/"

// Purchase returns the domains of a purchase, none if the payment is overdue.
func (rules *Rules) Purchase(ctx context.Context, purchaseBatchID string) ([]registrar.PurchasedDomain, error) {
	return store.Read(ctx, rules.Store, func(r store.Reader) ([]registrar.PurchasedDomain, error) {
		now := rules.Now()
		r.HideUnpaid(LastUnpaid(now))
		domains, err := r.DomainsOfPurchase(purchaseBatchID)
		return purchased(domains, now), err
	})
}

func purchased(domains []store.Domain, now time.Time) []registrar.PurchasedDomain {
	return objects(domains, func(d store.Domain) registrar.PurchasedDomain {
		return registrar.PurchasedDomain{AccountID: d.AccountID, ID: d.ID, Name: d.Name, Status: d.State.At(now)}
	})
}

// ErrNoPurchase means that a purchase has no domains, or was not paid within payableFor.
var ErrNoPurchase = errors.New("there is no domain of such a purchase")

// SettlePayment implements apiserver.Service.SettlePayment.
func (rules *Rules) SettlePayment(ctx context.Context, purchaseBatchID string) (settled []registrar.PurchasedDomain, err error) {
	now, prices := rules.Now(), rules.Settings.Get().Registrar
	err = rules.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(""), audit.SettlePayment, "status")
		tx.HideUnpaid(LastUnpaid(now))
		domains, err := tx.DomainsOfPurchase(api.CanonicalID(purchaseBatchID))
		if err == nil && len(domains) == 0 {
			err = ErrNoPurchase
		}
		if err != nil {
			return err
		}
		for i, d := range domains {
			if d.State.At(now) == vocab.DomainPendingPayment {
				if domains[i], err = store.Update(tx, d.AccountID, d.ID, func(d *store.Domain) error {
					d.State, d.UpdatedAt = prices.PaidState(now), now
					return nil
				}); err != nil {
					return err
				}
			}
		}
		settled = purchased(domains, now)
		return nil
	})
	return settled, err
}

// payableFor is how long a purchase can be paid. Afterwards a domain in pending_payment is hidden
// from every read, its name is for sale, and the next purchase in its account or of its name
// deletes it.
const payableFor = 7 * 24 * time.Hour

// LastUnpaid returns the latest creation time of a domain whose payment is overdue at now.
func LastUnpaid(now time.Time) time.Time { return now.Add(-payableFor) }

// expire deletes, as the service, the overdue domains of an account or, in any account, of a name.
func (c *Call) expire(tx store.Tx, accountID, name string) error {
	tx.HideUnpaid(time.Time{})
	defer tx.HideUnpaid(LastUnpaid(c.Arrival))
	return audit.AsSystem(tx, audit.ExpirePurchase, func() error { return DeleteOverdue(tx, accountID, name, c.Arrival) })
}

// DeleteOverdue deletes the overdue domains of an account or a name, with their contents. Only a
// fixture can add mailboxes to an unpaid domain.
func DeleteOverdue(tx store.Tx, accountID, name string, now time.Time) error {
	overdue, err := tx.UnpaidDomains(accountID, name, LastUnpaid(now))
	return cmp.Or(err, DeleteDomains(tx, overdue, now))
}

// DeleteDomains deletes domains with their contents.
func DeleteDomains(tx store.Tx, domains []store.Domain, now time.Time) error {
	for _, d := range domains {
		mailboxes, _, err := tx.Mailboxes(d.AccountID, store.MailboxFilter{DomainID: d.ID}, store.Slice{Limit: math.MaxInt32})
		if err != nil {
			return err
		}
		for _, m := range mailboxes {
			if err := store.Delete[store.Mailbox](tx, m.AccountID, m.ID, now); err != nil {
				return err
			}
		}
		if err := store.Delete[store.Domain](tx, d.AccountID, d.ID, now); err != nil {
			return err
		}
	}
	return nil
}
