package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var accounts = newTable(table[store.Account]{
	name: "accounts",
	columns: []string{"id", "status", "plan_id", "cancels_at", "next_plan_id", "plan_changes_at",
		"created_at", "updated_at"},
	fields: func(a *store.Account) []any {
		return []any{&a.ID, &a.Status, &a.PlanID, micros{&a.CancelsAt}, &a.NextPlanID, micros{&a.PlanChangesAt},
			micros{&a.CreatedAt}, micros{&a.UpdatedAt}}
	},
})

var workspaces = newTable(table[store.Workspace]{
	name:    "workspaces",
	columns: []string{"id", "account_id", "name", "created_at", "updated_at"},
	derived: []string{"folded_name"},
	derive:  func(w *store.Workspace) []any { return []any{searchText(w.Name)} },
	unique: func(w *where, v *store.Workspace) *where {
		return w.and(`t.account_id = ?`, v.AccountID).and(`t.folded_name = ?`, searchText(v.Name))
	},
	fields: func(w *store.Workspace) []any {
		return []any{&w.ID, &w.AccountID, &w.Name, micros{&w.CreatedAt}, micros{&w.UpdatedAt}}
	},
})

func (r *reader) Account(id string) (store.Account, error) {
	return get(r, accounts, "", id)
}

func (r *reader) Accounts() ([]store.Account, error) { return all(r, accounts, r.inAllAccounts()) }

func (r *reader) Workspace(accountID, id string) (store.Workspace, error) {
	return get(r, workspaces, accountID, id)
}

func (r *reader) Workspaces(accountID string, within store.Within, s store.Slice) ([]store.Workspace, int, error) {
	w := r.inAccount(accountID)
	if within.Restricted {
		w.and(w.in(`t.id`, within.Workspaces))
	}
	return page(r, workspaces, w, s)
}

func (t *tx) CreateAccount(a *store.Account) error { return create(t, accounts, a) }

func (t *tx) UpdateAccount(id string, change func(*store.Account) error) (store.Account, error) {
	return update(t, accounts, "", id, change)
}

func (t *tx) CreateWorkspace(w *store.Workspace) error { return create(t, workspaces, w) }
