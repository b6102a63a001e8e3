package storetest

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

func testWorkspaceFilter(h *harness) {
	one, other := h.account(), h.account()
	first, second, third := h.workspace(one, "First"), h.workspace(one, "Second"), h.workspace(one, "Third")
	foreign := h.workspace(other, "First") // names are unique per account
	lists(h, "others", workspaces(other, store.Within{}), foreign)
	lists(h, "within", workspaces(one, withinWorkspaces(third, first, foreign)), first, third)
	lists(h, "within nothing", workspaces(one, nothing))
	for _, name := range []string{"Second", "SECOND"} {
		h.taken(second, &store.Workspace{ID: h.id(), AccountID: one, Name: name, CreatedAt: epoch})
	}
}
