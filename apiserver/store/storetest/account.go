package storetest

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

func testAccount(h *harness) {
	if got := read(h, store.Reader.Accounts); len(got) != 0 {
		h.Errorf("a new store has accounts: %+v", got)
	}
	first := store.Account{ID: h.id(), Status: "active", PlanID: "smtp_per_mailbox", CreatedAt: epoch}
	second := store.Account{ID: h.id(), Status: "active", PlanID: "smtp_per_proxy", CreatedAt: epoch}
	h.update(func(tx store.Tx) error { return tx.CreateAccount(&first) })
	h.update(func(tx store.Tx) error { return tx.CreateAccount(&second) })
	equal(h, "CreatedAt", first.CreatedAt, epoch)
	equal(h, "UpdatedAt", first.UpdatedAt, epoch)
	equal(h, "accounts", read(h, store.Reader.Accounts), []store.Account{first, second})

	first.Status, first.PlanID, first.NextPlanID = "pending_cancellation", "smtp_per_proxy", "smtp_per_mailbox"
	first.CancelsAt, first.PlanChangesAt, first.UpdatedAt = at(3), at(4), at(5)
	update := func(id string, to store.Account) func(store.Tx) error {
		return func(tx store.Tx) error { _, err := tx.UpdateAccount(id, becomes(to)); return err }
	}
	h.update(update(first.ID, first))
	equal(h, "updated account", read(h, func(r store.Reader) (store.Account, error) {
		return r.Account(first.ID)
	}), first)

	h.exists(first.ID, func(tx store.Tx) error { again := first; return tx.CreateAccount(&again) })
	h.missing(update(h.id(), first))
	changed := first
	changed.CreatedAt = at(99)
	h.fixed(update(first.ID, changed))
	absent(h, func(r store.Reader) (store.Account, error) { return r.Account(h.id()) })
}

func testWorkspace(h *harness) {
	one, other := h.account(), h.account()
	ws := store.Workspace{ID: h.id(), AccountID: one, Name: "Default", CreatedAt: epoch}
	h.update(func(tx store.Tx) error { return tx.CreateWorkspace(&ws) })
	second := h.workspace(one, "Second")
	third := h.workspace(one, "Third")
	foreign := h.workspace(other, "Default")

	get := func(account, id string) func(store.Reader) (store.Workspace, error) {
		return func(r store.Reader) (store.Workspace, error) { return r.Workspace(account, id) }
	}
	equal(h, "workspace", read(h, get(one, ws.ID)), ws)
	absent(h, get(other, ws.ID))
	absent(h, get(one, foreign))
	absent(h, get(one, h.id()))

	list := func(account string, within store.Within) lister[store.Workspace] {
		return func(r store.Reader, s store.Slice) ([]store.Workspace, int, error) {
			return r.Workspaces(account, within, s)
		}
	}
	id := func(w store.Workspace) string { return w.ID }
	lists(h, "all", id, list(one, store.Within{}), ws.ID, second, third)
	lists(h, "others", id, list(other, store.Within{}), foreign)
	lists(h, "within", id, list(one, withinWorkspaces(third, ws.ID, foreign)), ws.ID, third)
	lists(h, "within nothing", id, list(one, nothing))

	h.exists(second, func(tx store.Tx) error {
		return tx.CreateWorkspace(&store.Workspace{ID: h.id(), AccountID: one, Name: "Second", CreatedAt: epoch})
	})
	h.exists(second, func(tx store.Tx) error {
		return tx.CreateWorkspace(&store.Workspace{ID: second, AccountID: one, Name: "Fourth", CreatedAt: epoch})
	})
}
