package account

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// PaymentPath is the path before a purchase's batch id. The id is random, and is all
// that is needed to see the names that were bought with it.
const PaymentPath = "/pay/"

// PurchasedDomain is a domain of a purchase and its status.
type PurchasedDomain struct{ Name, Status string }

// Purchase returns the domains of a purchase. There are none if its payment is overdue.
func (rules *Rules) Purchase(ctx context.Context, purchaseBatchID string) (bought []PurchasedDomain, err error) {
	now := rules.now()
	err = rules.store.View(ctx, func(r store.Reader) error {
		r.HideUnpaid(LastUnpaid(now))
		domains, err := r.DomainsOfPurchase(purchaseBatchID)
		for _, d := range domains {
			bought = append(bought, PurchasedDomain{d.Name, d.State.At(now)})
		}
		return err
	})
	return bought, err
}

// ErrNoPurchase is returned for the id of a purchase that has no domains, or that was
// not paid for within 7 days.
var ErrNoPurchase = errors.New("there is no domain of such a purchase")

// SettledDomain is a domain of a purchase that was paid.
type SettledDomain struct {
	AccountID string `json:"account_id"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
}

// SettlePayment marks a purchase as paid: its domains in pending_payment become pending
// or active. It returns all domains of the purchase; paying again changes nothing. The
// error is ErrNoPurchase if there is none.
func (rules *Rules) SettlePayment(ctx context.Context, purchaseBatchID string) ([]SettledDomain, error) {
	now, prices := rules.now(), rules.settings.Get().Registrar
	var settled []SettledDomain
	err := rules.store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator, audit.SettlePayment, "status")
		settled = nil
		tx.HideUnpaid(LastUnpaid(now))
		bought, err := tx.DomainsOfPurchase(api.CanonicalID(purchaseBatchID))
		if err != nil {
			return err
		}
		for _, d := range bought {
			if d.State.At(now) == vocab.DomainPendingPayment {
				if d, err = tx.UpdateDomain(d.AccountID, d.ID, func(d *store.Domain) error {
					d.State, d.UpdatedAt = prices.PaidState(now), now
					return nil
				}); err != nil {
					return err
				}
			}
			settled = append(settled, SettledDomain{AccountID: d.AccountID, ID: d.ID, Name: d.Name, Status: d.State.At(now)})
		}
		if len(settled) == 0 {
			return ErrNoPurchase
		}
		return nil
	})
	return settled, err
}
