package storetest

import (
	"errors"
	"fmt"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// grant creates a grant of a kind to a subject.
func (h *harness) grant(account, kind, subjectType, subject, capability string) string {
	h.Helper()
	a := store.Authorization{
		ID: h.id(), AccountID: account, GrantKind: kind,
		SubjectType: subjectType, SubjectID: subject, CapabilityKey: capability, CreatedAt: epoch,
	}
	h.create(&a)
	return a.ID
}

func (h *harness) revoke(account, id string) {
	h.Helper()
	h.update(revoked(account, id))
}

func revoked(account, id string) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.UpdateAuthorization(account, id, func(a *store.Authorization) error {
			a.RevokedAt = at(1)
			return nil
		})
		return err
	}
}

func testGrantsOf(h *harness) {
	one, other := h.account(), h.account()
	ada := h.grant(one, "account_owner", "user", "ada", "")
	admins := h.grant(one, "capability", "group", "admins", "mailbox.view")
	h.grant(one, "capability", "group", "ada", "mailbox.view") // a group with the same name as the user
	h.grant(other, "account_owner", "user", "ada", "")
	h.revoke(one, h.grant(one, "super_admin", "user", "ada", ""))

	of := func(subjects ...store.Subject) []string {
		return idsOf(read(h, func(r store.Reader) ([]store.Authorization, error) {
			return r.GrantsOf(one, subjects)
		}))
	}
	equal(h, "nobody", of(), []string{})
	equal(h, "a user", of(store.Subject{Type: "user", ID: "ada"}), []string{ada})
	equal(h, "somebody else", of(store.Subject{Type: "user", ID: "admins"}), []string{})
	many := []store.Subject{{Type: "group", ID: "admins"}, {Type: "user", ID: "ada"}}
	for i := range 3000 {
		many = append(many, store.Subject{Type: "group", ID: fmt.Sprint("group", i)})
	}
	equal(h, "a user in many groups", of(many...), []string{ada, admins})
}

// testAuthorizationVersion checks that the version changes with each change that authorization
// depends on, and with no other, and that no version comes again.
func testAuthorizationVersion(h *harness) {
	t := h.tenant("a.example")
	known := map[int64]string{}
	changed := func(what string, version int64) {
		h.Helper()
		before, ok := known[version]
		assert.Check(h, !ok, "%s: the version is the same as after %s", what, before)
		known[version] = what
	}
	now := func() int64 { return read(h, store.Reader.AuthorizationVersion) }
	changed("nothing", now())
	s := h.newServiceAccount(t.account, "public")
	grant := store.Authorization{ID: h.id(), AccountID: t.account, CreatedAt: epoch}
	for _, object := range []any{&store.Account{ID: h.id(), CreatedAt: epoch}, &s, &grant} {
		h.create(object)
		changed(fmt.Sprintf("a new %T", object), now())
	}
	for what, update := range map[string]func(store.Tx) error{
		"account": func(tx store.Tx) error {
			_, err := tx.UpdateAccount(t.account, func(a *store.Account) error { a.Status = "x"; return nil })
			return err
		},
		"service account": func(tx store.Tx) error {
			_, err := tx.UpdateServiceAccount(t.account, s.ID, func(a *store.ServiceAccount) error { a.RevokedAt = at(1); return nil })
			return err
		},
		"grant": revoked(t.account, grant.ID),
	} {
		h.update(update)
		changed("a changed "+what, now())
	}
	committed := now()
	undo := errors.New("undo")
	for range 2 { // a rolled-back version is not reused
		var undone int64
		if err := h.refused(func(tx store.Tx) (err error) {
			if err := tx.CreateAuthorization(&store.Authorization{ID: h.id(), AccountID: t.account, CreatedAt: epoch}); err != nil {
				return err
			}
			undone, err = tx.AuthorizationVersion()
			return errors.Join(err, undo)
		}); !errors.Is(err, undo) {
			h.Fatal(err)
		}
		changed("a change that is rolled back", undone)
	}
	h.mailbox(t, "ada")
	h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(s.ID, at(1)) })
	equal(h, "version after other changes", now(), committed)
	h.update(store.Tx.Clear)
	changed("clearing", now())
}
