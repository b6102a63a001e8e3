package storetest

import (
	"errors"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func testDomainReads(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	d := h.newDomain(t.account, t.workspace, "full.example")
	d.Tags, d.PurchaseBatchID = []store.Tag{{ID: h.id(), Name: "prod"}}, h.id()
	h.create(&d)
	byName := func(account, name string) func(store.Reader) (store.Domain, error) {
		return of(store.Reader.DomainByName, account, name)
	}
	equal(h, "by name", read(h, byName(t.account, "full.example")), d)
	absent(h, byName(other.account, "full.example"))
	absent(h, byName(t.account, "full.example\x00"))
	taken := func(name string) func(store.Reader) (bool, error) {
		return func(r store.Reader) (bool, error) { return r.DomainTaken(name) }
	}
	equal(h, "taken", read(h, taken("full.example")), true) // by any account
	equal(h, "free", read(h, taken("free.example")), false)
	ofPurchase := func(batch string) func(store.Reader) ([]store.Domain, error) {
		return func(r store.Reader) ([]store.Domain, error) { return r.DomainsOfPurchase(batch) }
	}
	equal(h, "of a purchase", read(h, ofPurchase(d.PurchaseBatchID)), []store.Domain{d})
	for _, batch := range []string{"", h.id()} { // no order created the tenants' domains
		equal(h, "of no purchase", read(h, ofPurchase(batch)), nil)
	}

	ip := h.newDedicatedIP(t.account, h.dedicatedIPOption(t.account, "198.51.100.1"), "198.51.100.1")
	h.create(&ip)
	users := func(account string) []string {
		return read(h, func(r store.Reader) ([]string, error) { return r.DomainsOfDedicatedIP(account, ip.ID) })
	}
	equal(h, "users of the dedicated IP", users(t.account), nil)
	second := h.workspace(t.account, "Second")
	d.WorkspaceID, d.DedicatedIPID, d.Tags = second, ip.ID, []store.Tag{{ID: h.id(), Name: "test"}}
	h.update(updateDomain(d))
	equal(h, "updated", read(h, of(store.Reader.Domain, t.account, d.ID)), d)
	equal(h, "users of the dedicated IP", users(t.account), []string{d.ID})
	equal(h, "users in another account", users(other.account), nil)
	lists(h, "old tag", domains(t.account, store.DomainFilter{Tag: "prod"}))
	lists(h, "new tag", domains(t.account, store.DomainFilter{Tag: "test"}), d.ID)
}

func updateDomain(to store.Domain) func(store.Tx) error {
	return func(tx store.Tx) error { _, err := tx.UpdateDomain(to.AccountID, to.ID, replaceWith(to)); return err }
}

func deleteDomain(account, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return tx.DeleteDomain(account, id, at(0))
	}
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
	h.update(updateDomain(overdue))
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
