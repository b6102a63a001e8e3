package storetest

import (
	"errors"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// testStatements calls the methods that no other test calls, so that the engines' tests see every
// statement. What the methods do is tested with the operations of the API, on both engines.
func testStatements(h *harness) {
	t := h.full("a.example")
	one := func(got []string, err error) error {
		assert.Check(h, err != nil || len(got) == 1, "%d objects, want one", len(got))
		return err
	}
	ip := read(h, func(r store.Reader) (store.DedicatedIP, error) {
		ips, _, err := r.DedicatedIPs(t.account, store.DedicatedIPFilter{}, everything)
		return ips[0], err
	})
	rule := read(h, func(r store.Reader) (store.Forwarding, error) { return r.ForwardingByLink([]byte("a.example")) })
	service := read(h, func(r store.Reader) (store.ServiceAccount, error) {
		return r.ServiceAccountByPublicID("public-a.example")
	})
	h.update(func(tx store.Tx) error {
		grants, err := tx.GrantsOf(t.account, []store.Subject{{Type: "group", ID: "g"}, {Type: "user", ID: "u"}})
		_, err1 := tx.SetPublicURL("https://a.example")
		_, err2 := tx.SetPublicURL("https://b.example")
		_, err3 := tx.IdempotencyRecord([]byte("a.example"), epoch)
		queued, err4 := tx.QueuedMessages()
		_, err5 := tx.NextMessageDue()
		assert.Check(h, len(grants) == 1 && queued == 1, "%d grants and %d messages, want one of each", len(grants), queued)
		return errors.Join(one(idsOf(grants), err), one(tx.DomainsOfDedicatedIP(t.account, ip.ID)), err1, err2, err3, err4, err5,
			second(tx.DomainTaken("a.example")), tx.TouchServiceAccount(service.ID, at(1)), tx.SetForwardingLink(t.account, rule.ID, []byte{1}),
			tx.DeleteExpiredIdempotencyRecords(at(99)), second(tx.DeleteAuditEntries(t.account, at(99), 9)),
			tx.EachAuditEntry(store.AuditFilter{AccountID: t.account, Since: at(1), Subject: "u", Object: "a"}, nil))
	})
}

// testDomainUnpaid checks that a domain with an overdue payment and all objects in it are
// hidden.
func testDomainUnpaid(h *harness) {
	t := h.tenant("paid.example")
	late := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "late.example")}
	overdue := read(h, of(store.Reader.Domain, t.account, late.domain))
	overdue.State, overdue.PurchaseBatchID = store.Provisioning{Status: vocab.DomainPendingPayment}, h.id()
	record := h.newDNSRecord(late, "@", "TXT", "x")
	rule := h.newForwarding(t.account, "a@example.net", domainScope(late.domain))
	password := h.newMasterPassword(t.account, "late", domainScope(late.domain))
	mailbox := h.newMailbox(late, "ada")
	h.update(func(tx store.Tx) error {
		_, err := tx.UpdateDomain(t.account, overdue.ID, replaceWith(overdue))
		return err
	})
	h.create(&record, &rule, &password, &mailbox)
	for _, c := range []struct {
		name   string
		before time.Time
		hidden bool
	}{
		{"not hidden", time.Time{}, false},
		{"younger", overdue.CreatedAt.Add(-time.Microsecond), false},
		{"as old", overdue.CreatedAt, true},
		{"older", overdue.CreatedAt.Add(time.Hour), true},
	} {
		h.view(func(r store.Reader) error {
			r.HideUnpaid(c.before)
			for what, err := range map[string]error{
				"the domain by id": second(r.Domain(t.account, late.domain)), "by name": second(r.DomainByName(t.account, "late.example")),
				"its record": second(r.DNSRecord(t.account, record.ID)), "its rule": second(r.Forwarding(t.account, rule.ID)),
				"its password": second(r.MasterPassword(t.account, password.ID)), "its mailbox": second(r.Mailbox(t.account, mailbox.ID)),
				"its mailbox by address": second(r.MailboxByAddress(t.account, "ada", "late.example")),
			} {
				assert.Check(h, errors.Is(err, store.ErrNotFound) == c.hidden && (err == nil || c.hidden), "%s: %s: %v", c.name, what, err)
			}
			bought, err := r.DomainsOfPurchase(overdue.PurchaseBatchID)
			found, err1 := r.UnpaidDomains(t.account, "", overdue.CreatedAt)
			named, err2 := r.UnpaidDomains("", "late.example", overdue.CreatedAt)
			none, err3 := r.UnpaidDomains("", "paid.example", overdue.CreatedAt)
			if (len(bought) == 0) != c.hidden || len(found) != 1 || len(named) != 1 || len(none) != 0 || found[0].ID != late.domain {
				h.Errorf("%s: %d domains were bought; %d, %d and %d are unpaid", c.name, len(bought), len(found), len(named), len(none))
			}
			return errors.Join(err, err1, err2, err3)
		})
	}
}

func second[T any](_ T, err error) error { return err }
