package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

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

// versions maps each version that a store has had to the change that led to it.
type versions struct {
	*harness
	known map[int64]string
}

func (v versions) now() int64 {
	v.Helper()
	return read(v.harness, store.Reader.AuthorizationVersion)
}

// new checks that the store has not had a version before.
func (v versions) new(version int64, what string) {
	v.Helper()
	if before, known := v.known[version]; known {
		v.Errorf("%s: the version is the same as after %s", what, before)
	}
	v.known[version] = what
}

// testAuthorizationVersion checks that the version changes with every field that
// authorization depends on, and with no other field.
func testAuthorizationVersion(h *harness) {
	t := h.tenant("a.example")
	v := versions{h, map[int64]string{}}
	v.new(v.now(), "no change")
	changeFields(v, accountKind, t)
	changeFields(v, authorizationKind, t)
	s := changeFields(v, serviceAccountKind, t)

	committed := v.now()
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
		v.new(undone, "a change that is rolled back")
	}
	h.mailbox(t, "ada")
	h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(s.ID, at(1)) })
	equal(h, "version after other changes", v.now(), committed)
	h.update(store.Tx.Clear)
	v.new(v.now(), "clearing")
}

// changeFields creates an object, and changes each of its fields.
func changeFields[T any](v versions, k kind[T, string], t tenant) T {
	v.Helper()
	object := k.new(v.harness, t)
	v.create(&object)
	v.new(v.now(), fmt.Sprintf("a new %T", object))
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if slices.Contains([]string{"ID", "AccountID", "CreatedAt", "LastUsedAt"}, f.Name) {
			continue
		}
		fill(&object, 4, func(name string, _ reflect.Value) bool { return name == f.Name })
		v.update(func(tx store.Tx) error {
			_, err := k.update(tx, t.account, k.id(object), replaceWith(object))
			return err
		})
		v.new(v.now(), fmt.Sprintf("%T.%s", object, f.Name))
	}
	return object
}
