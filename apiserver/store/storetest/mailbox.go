package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func deleteMailbox(account, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		return tx.DeleteMailbox(account, id, at(0))
	}
}

// withAliases returns a new mailbox with aliases.
func (h *harness) withAliases(t tenant, localPart string, aliases ...string) store.Mailbox {
	m := h.newMailbox(t, localPart)
	for _, a := range aliases {
		m.Aliases = append(m.Aliases, store.MailboxAlias{Alias: a})
	}
	return m
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
