package apiserver

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// ErrNoPurchase is returned for the id of a purchase that no domain is from, or that
// was not paid for within 7 days.
var ErrNoPurchase = errors.New("there is no domain of such a purchase")

// SettledDomain is a domain of a purchase that is paid for.
type SettledDomain struct {
	AccountID string `json:"account_id"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
}

// SettlePayment makes a purchase paid for: its domains that wait for the payment
// go on to what the registrar makes of them. It returns all domains of the
// purchase; paying again changes nothing. The error is ErrNoPurchase where there
// is none.
func (s *Service) SettlePayment(ctx context.Context, purchaseBatchID string) ([]SettledDomain, error) {
	now, prices := s.now(), s.rules.get().registrar
	var settled []SettledDomain
	err := s.store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator, audit.SettlePayment, "status")
		settled = nil
		tx.HideUnpaid(lastUnpaid(now))
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
