package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func deleteMailbox(account, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return tx.DeleteMailbox(account, id, at(0))
	}
}

// testMailboxNames checks the names that create sets, and the names that find a mailbox
// after an update.
func testMailboxNames(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	m := h.withAliases(t, "ada", "a@a.example", "*@a.example")
	m.Aliases[1].IsCatchAll = true
	h.create(&m)
	equal(h, "address", m.Address(), "ada@a.example")
	equal(h, "workspace", m.WorkspaceID+m.WorkspaceName, t.workspace+"Default")
	byAddress := func(account, local, domain string) func(store.Reader) (store.Mailbox, error) {
		return func(r store.Reader) (store.Mailbox, error) { return r.MailboxByAddress(account, local, domain) }
	}
	equal(h, "by address", read(h, byAddress(t.account, "ada", "a.example")), m)
	equal(h, "by an alias", read(h, byAddress(t.account, "a", "a.example")), m)
	absent(h, byAddress(other.account, "ada", "a.example"))
	absent(h, byAddress(t.account, "ada", "b.example"))
	h.update(func(tx store.Tx) error {
		_, err := tx.UpdateMailbox(t.account, m.ID, func(m *store.Mailbox) error {
			m.FirstName, m.LastName = "Grace", "Hopper"
			return nil
		})
		return err
	})
	lists(h, "by the new name", mailboxes(t.account, store.MailboxFilter{Search: "GRACE h"}), m.ID)
	lists(h, "by the old name", mailboxes(t.account, store.MailboxFilter{Search: "lovelace"}))
}

// withAliases returns a new mailbox with aliases.
func (h *harness) withAliases(t tenant, localPart string, aliases ...string) store.Mailbox {
	m := h.newMailbox(t, localPart)
	for _, a := range aliases {
		m.Aliases = append(m.Aliases, store.MailboxAlias{Alias: a})
	}
	return m
}

// testAddresses checks that primary addresses and aliases are unique together, and that a
// failed create leaves nothing in its transaction.
func testAddresses(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	second := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "c.example")}
	ada := h.withAliases(t, "ada", "info@a.example", "*@a.example", "info@c.example")
	ada.Aliases[1].IsCatchAll = true
	h.create(&ada)
	for name, m := range map[string]store.Mailbox{
		"mailbox at an alias":               h.newMailbox(t, "info"),
		"mailbox at an alias elsewhere":     h.newMailbox(second, "info"),
		"mailbox at a catch-all":            h.newMailbox(t, "*"),
		"alias at a mailbox":                h.withAliases(second, "new", "ada@a.example"),
		"alias at an alias":                 h.withAliases(second, "new", "new@a.example", "info@c.example"),
		"mailbox with another one's id":     {ID: ada.ID, AccountID: t.account, DomainID: t.domain, LocalPart: "new", CreatedAt: epoch},
		"mailbox at the address of another": h.newMailbox(t, "ada"),
	} {
		h.Logf("%s", name)
		h.taken(ada.ID, &m)
		var err error
		h.update(func(tx store.Tx) error {
			err = tx.CreateMailbox(&m)
			return nil
		})
		_, exists := errors.AsType[*store.ExistsError](err)
		assert.Check(h, exists, "%s: error = %v", name, err)
	}
	h.missing(func(tx store.Tx) error { return create(tx, new(h.withAliases(t, "new", "new@nowhere.example"))) })
	h.missing(func(tx store.Tx) error { return create(tx, new(h.withAliases(t, "new", "new@b.example"))) }) // a domain of another account
	own := h.withAliases(second, "new", "new@a.example", "new@a.example")
	h.taken(own.ID, &own) // its own address again
	lists(h, "mailboxes", mailboxes(t.account, store.MailboxFilter{}), ada.ID)

	h.create(new(h.newMailbox(t, "bob"))) // a catch-all reserves only its own address
	h.create(new(h.newMailbox(second, "ada")))
	h.create(new(h.withAliases(second, "new", "new@a.example")))
	h.create(new(h.newMailbox(other, "info")))

	h.update(deleteMailbox(t.account, ada.ID)) // deletes its aliases too
	h.create(new(h.withAliases(t, "info", "ada@a.example", "*@a.example", "info@c.example")))
}

// testAddressesOfADeletedDomain checks that deleting a domain deletes exactly the aliases
// in it.
func testAddressesOfADeletedDomain(h *harness) {
	t := h.tenant("a.example")
	gone := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "gone.example")}
	ada := h.withAliases(t, "ada", "info@a.example", "ada@gone.example", "info@gone.example")
	bob := h.withAliases(t, "bob", "bob@gone.example")
	h.create(&ada, &bob)
	eve := h.mailbox(t, "eve")

	before := []store.Mailbox{ada, bob}
	domain := read(h, of(store.Reader.Domain, t.account, gone.domain))
	changes := h.observed(func(tx store.Tx) error { return tx.DeleteDomain(t.account, gone.domain, at(5)) })
	ada.Aliases, ada.UpdatedAt = ada.Aliases[:1], at(5)
	bob.Aliases, bob.UpdatedAt = nil, at(5)
	equal(h, "changes", changes, []store.Change{
		{Before: &domain},
		{Before: &before[0], After: &ada, Fields: []string{"aliases"}},
		{Before: &before[1], After: &bob, Fields: []string{"aliases"}},
	})
	for _, want := range []store.Mailbox{ada, bob} {
		equal(h, "mailbox", read(h, of(store.Reader.Mailbox, t.account, want.ID)), want)
	}
	lists(h, "mailboxes", mailboxes(t.account, store.MailboxFilter{}), ada.ID, bob.ID, eve)

	gone.domain = h.domain(t.account, t.workspace, "gone.example")
	h.mailbox(gone, "ada")
	h.taken(ada.ID, new(h.newMailbox(t, "info")))
}

// bulk creates mailboxes in one update and returns their ids.
func (h *harness) bulk(t tenant, prefix string, n int) []string {
	h.Helper()
	created := make([]store.Mailbox, n)
	for i := range created {
		created[i] = h.newMailbox(t, fmt.Sprint(prefix, i))
	}
	h.update(func(tx store.Tx) error {
		for i := range created {
			if err := tx.CreateMailbox(&created[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return idsOf(created)
}

// testCreateMailboxes checks that mailboxes which are created together are as if each was created
// alone, without those whose address exists and those beyond the limit.
func testCreateMailboxes(h *harness) {
	t := h.tenant("a.example")
	ada := h.mailbox(t, "ada")
	const wanted, limit = 1030, 1021
	mailboxes := make([]*store.Mailbox, wanted)
	for i := range mailboxes {
		mailboxes[i] = new(h.newMailbox(t, fmt.Sprint("m", i)))
		mailboxes[i].FirstName = "Ünï"
	}
	mailboxes[1].LocalPart, mailboxes[3].LocalPart = "ada", "m2"
	var made map[*store.Mailbox]bool
	var want, got []store.Mailbox
	changes := h.observed(func(tx store.Tx) (err error) {
		made, err = tx.CreateMailboxes(mailboxes, limit)
		return err
	})
	for i, m := range mailboxes {
		if created := i != 1 && i != 3 && i < limit+2; made[m] != created {
			h.Errorf("mailbox %d: created %t, want %t", i, made[m], created)
		} else if created {
			want = append(want, *m)
		}
	}
	equal(h, "changes", len(changes), limit)
	equal(h, "a change", changes[7], store.Change{After: mailboxes[9]})
	h.view(func(r store.Reader) (err error) {
		if got, _, err = r.Mailboxes(t.account, store.MailboxFilter{Search: "ÜNÏ"}, everything); err != nil {
			return err
		}
		first, err := r.MailboxByAddress(t.account, "ada", "a.example")
		if err == nil {
			equal(h, "the mailbox that exists", first.ID, ada)
		}
		return err
	})
	equal(h, "created", got, want)
	h.exists(want[5].ID, func(tx store.Tx) error { return tx.CreateMailbox(new(h.newMailbox(t, want[5].LocalPart))) })
	h.update(func(tx store.Tx) error { _, err := tx.CreateMailboxes(nil, limit); return err })
	h.missing(func(tx store.Tx) error {
		m := h.newMailbox(t, "eve")
		m.DomainID = "unknown"
		_, err := tx.CreateMailboxes([]*store.Mailbox{&m}, 1)
		return err
	})
	lists(h, "a page", func(r store.Reader, s store.Slice) ([]store.Mailbox, int, error) {
		items, total, err := r.Mailboxes(t.account, store.MailboxFilter{DomainID: t.domain, Search: "m102"}, s)
		return items, total, err
	}, idsOf(slices.DeleteFunc(want, func(m store.Mailbox) bool { return !strings.HasPrefix(m.LocalPart, "m102") }))...)
}

// testEachMailbox checks that the callback may use the reader and end the call, and does not see
// mailboxes created during the call.
func testEachMailbox(h *harness) {
	t := h.tenant("a.example")
	want := h.bulk(t, "m", 1100) // more than one batch
	stop := errors.New("stop")
	for _, end := range []int{1100, 700} {
		var got []string
		if err := h.store.View(h.Context(), func(r store.Reader) error {
			return r.EachMailbox(t.account, store.MailboxFilter{Search: "m"}, func(m store.Mailbox) error {
				if len(got) == 100 {
					h.mailbox(t, fmt.Sprint("meanwhile", end))
				}
				if got = append(got, m.ID); len(got) == 700 && end == 700 {
					return stop
				}
				again, err := r.Mailbox(t.account, m.ID)
				equal(h, "mailbox", again, m)
				return err
			})
		}); err != nil && (err != stop || end != 700) {
			h.Error(err)
		}
		equal(h, "mailboxes", got, want[:end])
	}
}
