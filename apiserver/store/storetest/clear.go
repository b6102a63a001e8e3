package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Fill creates an account with one object of each type in an empty store.
func Fill(t *testing.T, s store.Store) {
	t.Helper()
	(&harness{T: t, store: s}).full("a.example")
}

// full creates an account with one object of each type.
func (h *harness) full(domainName string) tenant {
	h.Helper()
	t := h.withoutDomain(domainName)
	address := fmt.Sprintf("2001:db8::%x", h.ids) // unique per account
	option := store.DedicatedIPOption{ID: h.id(), AccountID: t.account, Name: "Other", Addresses: []string{address}, CreatedAt: epoch}
	ip := store.DedicatedIP{ID: h.id(), AccountID: t.account, OptionID: option.ID, Addresses: []store.IPAddress{{IP: address}}, CreatedAt: epoch}
	first, bought := h.newDomain(t, domainName), h.newDomain(t, "bought."+domainName)
	bought.ID, bought.DedicatedIPID, bought.Tags = h.id(), ip.ID, []store.Tag{{ID: h.id(), Name: "tag"}}
	mailbox, record := h.newMailbox(t, "ada"), h.newDNSRecord(t, "@", "TXT", "x")
	h.create(&first, &option, &ip, &bought, &mailbox, &record)
	h.update(func(tx store.Tx) error {
		return errors.Join(
			tx.PutIdempotencyRecord(store.IdempotencyRecord{KeyHash: []byte(domainName), Fingerprint: []byte{1}, Response: []byte{2}, ExpiresAt: at(60)}),
			tx.UpdateTokenBucket("account "+t.account, epoch, func(time.Time) time.Time { return at(1) }),
			tx.AddAuditEntry(&store.AuditEntry{AccountID: t.account, CreatedAt: epoch, Operation: "create"}),
		)
	})
	return t
}

// testClear checks that Clear leaves nothing, that a rollback undoes it, and that the same
// transaction can refill the store.
func testClear(h *harness) {
	gone := h.full("a.example")
	h.full("b.example")
	fail := errors.New("undo")
	assert.Check(h, is.ErrorIs(h.refused(func(tx store.Tx) error { return errors.Join(tx.Clear(), fail) }), fail), "error")
	equal(h, "accounts after a rollback", len(read(h, store.Reader.Accounts)), 2)
	account := store.Account{ID: gone.account, Status: "active", PlanID: "p"}
	workspace := store.Workspace{ID: h.id(), AccountID: gone.account, Name: "Other", CreatedAt: epoch}
	d, mailbox, before := h.newDomain(gone, "b.example"), h.newMailbox(gone, "ada"), h.newMailbox(gone, "before")
	d.WorkspaceID = workspace.ID
	h.update(func(tx store.Tx) error {
		if err := errors.Join(tx.Create(&before), tx.Clear()); err != nil { // Create read the domain
			return err
		}
		account.CreatedAt, mailbox.CreatedAt = epoch, epoch
		return errors.Join(tx.Create(&account), tx.Create(&workspace), tx.Create(&d), tx.Create(&mailbox))
	})
	equal(h, "accounts", read(h, store.Reader.Accounts), []store.Account{account})
	equal(h, "the first account's and mailbox's times", []time.Time{account.CreatedAt, mailbox.CreatedAt}, []time.Time{epoch, epoch})
	equal(h, "the mailbox's domain and workspace", mailbox.DomainName+mailbox.WorkspaceName, "b.exampleOther")
	equal(h, "entries of the audit log", len(h.logged(store.AuditFilter{})), 0)
	h.missing(func(tx store.Tx) error { _, err := tx.IdempotencyRecord([]byte("b.example"), epoch); return err })
	for range 2 { // an empty store can be cleared
		h.update(store.Tx.Clear)
	}
	h.full("a.example") // the same unique values are free again
}

// Restore checks in an empty store that a snapshot contains everything, and that new rows get new ids
// after it is restored. Run omits it, because its statements read whole tables.
func Restore(t *testing.T, s store.Store) {
	h := &harness{T: t, store: s}
	kept := h.full("a.example")
	content := func() string {
		return fmt.Sprintln(read(h, store.Reader.Accounts),
			read(h, func(r store.Reader) ([]store.Mailbox, error) {
				items, _, err := r.Mailboxes(kept.account, store.MailboxFilter{}, everything)
				return items, err
			}),
			h.logged(store.AuditFilter{}),
			read(h, func(r store.Reader) (store.Forwarding, error) { return r.ForwardingByLink([]byte("a.example")) }),
			read(h, func(r store.Reader) (store.IdempotencyRecord, error) {
				return r.IdempotencyRecord([]byte("a.example"), epoch)
			}))
	}
	before := content()
	restore, err := s.Snapshot(h.Context())
	assert.NilError(h, err)
	for range 2 {
		h.update(store.Tx.Clear)
		h.full("b.example")
		assert.NilError(h, restore(h.Context()))
		equal(h, "content", content(), before)
	}
	h.full("b.example")
	equal(h, "entries of the audit log", len(h.logged(store.AuditFilter{})), 2)
}

// withoutDomain creates an account with every type of object that DeleteAccount deletes.
func (h *harness) withoutDomain(name string) tenant {
	h.Helper()
	t := h.accountWithWorkspace()
	scope := store.Scope{Type: vocab.ScopeWorkspace, ID: t.workspace}
	service := h.newServiceAccount(t.account, "public-"+name)
	rule := h.newForwarding(t.account, "a@c.example", scope)
	rule.LinkHash = []byte(name)
	h.create(&service, &rule,
		&store.MasterPassword{ID: h.id(), AccountID: t.account, Name: "ops", Scope: scope, SecretHash: "hash", CreatedAt: epoch},
		&store.DedicatedIPOption{ID: h.id(), AccountID: t.account, Name: "Europe", CreatedAt: epoch},
		&store.Authorization{ID: h.id(), AccountID: t.account, GrantKind: "super_admin", SubjectType: "user", SubjectID: "u", CreatedAt: epoch},
		&store.Feedback{ID: h.id(), AccountID: t.account, Title: "t", CreatedAt: epoch})
	h.update(func(tx store.Tx) error {
		return tx.QueueMessage(store.QueuedMessage{AccountID: t.account, ForwardingID: rule.ID, DueAt: at(1)})
	})
	return t
}

// testDeleteAccount checks that DeleteAccount deletes an account with its objects, and no other
// account, and that it refuses an account with domains or dedicated IPs.
func testDeleteAccount(h *harness) {
	kept, gone := h.full("a.example"), h.withoutDomain("b.example")
	_ = h.refused(func(tx store.Tx) error { return tx.DeleteAccount(kept.account) }) // because of its domain
	h.missing(func(tx store.Tx) error { return tx.DeleteAccount(h.id()) })
	before := read(h, store.Reader.AuthorizationVersion)
	err := h.store.Update(h.Context(), func(tx store.Tx) error { return tx.DeleteAccount(gone.account) })
	assert.Assert(h, err == nil, "DeleteAccount: %v; it has to delete the rows of every table that refers to accounts", err)
	after := read(h, store.Reader.AuthorizationVersion)
	assert.Check(h, after != before, "the version of authorizations is the same")
	equal(h, "accounts", len(read(h, store.Reader.Accounts)), 1)
	h.missing(func(tx store.Tx) error { _, err := tx.ServiceAccountByPublicID("public-b.example"); return err })
	h.missing(func(tx store.Tx) error { _, err := tx.ForwardingByLink([]byte("b.example")); return err })
	got := read(h, func(r store.Reader) (store.ServiceAccount, error) {
		return r.ServiceAccountByPublicID("public-a.example")
	})
	assert.Check(h, got.AccountID == kept.account, "the other account has %+v", got)
}

// FillRandomly adds accounts to a store, with rows in every table and random text. A store can be
// filled several times, with different seeds below 90.
func FillRandomly(t *testing.T, s store.Store, seed int) {
	t.Helper()
	h := &harness{T: t, store: s, ids: seed * 1_000_000}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 1 + random.IntN(3) {
		name := fmt.Sprintf("f%d-%d.example", seed, h.ids)
		tenant := h.full(name)
		for i := range random.IntN(300) {
			m := h.newMailbox(tenant, fmt.Sprintf("m%d", i))
			m.FirstName, m.LastName = randomText(random), randomText(random)
			m.Aliases = make([]store.MailboxAlias, random.IntN(3))
			for j := range m.Aliases {
				m.Aliases[j] = store.MailboxAlias{Alias: fmt.Sprintf("m%d-alias%d@%s", i, j, name)}
			}
			h.create(&m)
			if random.IntN(5) == 0 {
				h.update(func(tx store.Tx) error { return store.Delete[store.Mailbox](tx, tenant.account, m.ID, at(1)) })
			}
		}
	}
}

// randomText returns characters of one to four bytes, without NUL.
func randomText(random *rand.Rand) string {
	alphabet := []rune("aZ '\"\\%_\u00a0éßЖ中\u2028😀\U0010ffff\x01\x7f")
	chars := make([]rune, random.IntN(20))
	for i := range chars {
		chars[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(chars)
}
