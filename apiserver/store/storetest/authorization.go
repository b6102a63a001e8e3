package storetest

import (
	"fmt"

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

func testAuthorizationFilter(h *harness) {
	one, other := h.account(), h.account()
	owner := h.grant(one, "account_owner", "user", "ada", "")
	view := h.grant(one, "capability", "user", "ada", "mailbox.view")
	group := h.grant(one, "capability", "group", "ada", "mailbox.view")
	revoked := h.grant(one, "capability", "user", "bob", "mailbox.create")
	h.revoke(one, revoked)
	h.grant(other, "account_owner", "user", "ada", "")

	for _, c := range []struct {
		name   string
		filter store.AuthorizationFilter
		want   []string
	}{
		{"none", store.AuthorizationFilter{}, []string{owner, view, group}},
		{"revoked too", store.AuthorizationFilter{IncludeRevoked: true}, []string{owner, view, group, revoked}},
		{"subject type", store.AuthorizationFilter{SubjectType: "user"}, []string{owner, view}},
		{"subject id", store.AuthorizationFilter{SubjectID: "ada"}, []string{owner, view, group}},
		{"kind", store.AuthorizationFilter{GrantKind: "capability"}, []string{view, group}},
		{"capability", store.AuthorizationFilter{CapabilityKey: "mailbox.view"}, []string{view, group}},
		{"all", store.AuthorizationFilter{
			SubjectType: "user", SubjectID: "bob", GrantKind: "capability", CapabilityKey: "mailbox.create",
			IncludeRevoked: true,
		}, []string{revoked}},
		{"no match", store.AuthorizationFilter{SubjectType: "group", GrantKind: "account_owner"}, []string{}},
	} {
		got := read(h, func(r store.Reader) ([]store.Authorization, error) {
			return r.Authorizations(one, c.filter)
		})
		equal(h, c.name, idsOf(got), c.want)
	}
}

func testGrantsOf(h *harness) {
	one, other := h.account(), h.account()
	ada := h.grant(one, "account_owner", "user", "ada", "")
	admins := h.grant(one, "capability", "group", "admins", "mailbox.view")
	h.grant(one, "capability", "group", "ada", "mailbox.view") // a group of that name
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
