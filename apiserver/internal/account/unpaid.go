package account

import (
	"context"
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// payableFor is how long a purchase can be paid for. A domain that still waits for
// its payment then is gone, and others can buy its name. It is hidden from every
// read from that time on, and deleted with the next change in its account or the
// next purchase of its name.
const payableFor = 7 * 24 * time.Hour

// LastUnpaid returns the latest creation time of a domain whose payment is overdue
// at a time.
func LastUnpaid(now time.Time) time.Time { return now.Add(-payableFor) }

// overdueError undoes a transaction that found domains whose payment is overdue:
// those of an account, or the one of a name.
type overdueError struct{ accountID, name string }

func (*overdueError) Error() string { return "a purchase was not paid for in time" }

// checkOverdue returns an *overdueError if there is such a domain.
func (c *Call) checkOverdue(tx store.Tx, accountID, name string) error {
	overdue, err := tx.UnpaidDomains(accountID, name, LastUnpaid(c.at))
	if err == nil && len(overdue) > 0 {
		err = &overdueError{accountID, name}
	}
	return err
}

// updatePaid runs a transaction of the call, and again after each *overdueError,
// for which it deletes the overdue domains. That is a transaction of its own, because it
// is no change by the request's caller, who may be of another account.
func (c *Call) updatePaid(fn func(store.Tx) error) error {
	for {
		err := c.rules.store.Update(c.ctx, fn)
		overdue, ok := errors.AsType[*overdueError](err)
		if !ok {
			return err
		}
		err = c.rules.store.Update(context.Background(), func(tx store.Tx) error { //nolint:contextcheck // the request's values would attribute it to the caller
			audit.Attribute(tx, audit.System, audit.ExpirePurchase)
			return DeleteOverdue(tx, overdue.accountID, overdue.name, c.at)
		})
		if err != nil {
			return err
		}
	}
}

// DeleteOverdue deletes the domains of an account or of a name whose payment is
// overdue, with all that is in them. Only a fixture can have given one mailboxes.
func DeleteOverdue(tx store.Tx, accountID, name string, now time.Time) error {
	overdue, err := tx.UnpaidDomains(accountID, name, LastUnpaid(now))
	if err != nil {
		return err
	}
	for _, d := range overdue {
		var mailboxes []string
		if err := tx.EachMailbox(d.AccountID, store.MailboxFilter{DomainID: d.ID}, func(m store.Mailbox) error {
			mailboxes = append(mailboxes, m.ID)
			return nil
		}); err != nil {
			return err
		}
		for _, id := range mailboxes {
			if err := tx.DeleteMailbox(d.AccountID, id, now); err != nil {
				return err
			}
		}
		if err := tx.DeleteDomain(d.AccountID, d.ID, now); err != nil {
			return err
		}
	}
	return nil
}
