package storetest

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

// testNames checks that names are unique in their account or scope, whatever their case.
func testNames(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	second := h.workspace(t.account, "Second")
	h.workspace(other.account, "Second")
	h.taken(second, &store.Workspace{ID: h.id(), AccountID: t.account, Name: "SECOND", CreatedAt: epoch})
	password := h.masterPassword(t.account, "Ops ä", accountScope(t))
	h.masterPassword(t.account, "Ops ä", domainScope(t.domain))
	h.taken(password, new(h.newMasterPassword(t.account, "OPS Ä", accountScope(t))))
}

func (h *harness) masterPassword(account, name string, scope store.Scope) string {
	h.Helper()
	p := h.newMasterPassword(account, name, scope)
	h.create(&p)
	return p.ID
}
