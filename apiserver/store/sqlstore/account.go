package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var accounts = of(kind[store.Account]{
	table: "accounts",
	columns: []string{"id", "status", "plan_id", "cancels_at", "next_plan_id", "plan_changes_at",
		"created_at", "updated_at"},
	fields: func(a *store.Account) []any {
		return []any{&a.ID, &a.Status, &a.PlanID, micros{&a.CancelsAt}, &a.NextPlanID, micros{&a.PlanChangesAt},
			micros{&a.CreatedAt}, micros{&a.UpdatedAt}}
	},
})

var workspaces = of(kind[store.Workspace]{
	table:   "workspaces",
	columns: []string{"id", "account_id", "name", "created_at", "updated_at"},
	written: []string{"folded_name"},
	fields: func(w *store.Workspace) []any {
		return []any{&w.ID, &w.AccountID, &w.Name, micros{&w.CreatedAt}, micros{&w.UpdatedAt}}
	},
})

// Account implements store.AccountReader.
func (r *reader) Account(id string) (store.Account, error) {
	return one(r, accounts, r.anywhere().and(`t.id = ?`, id))
}

// Accounts implements store.AccountReader.
func (r *reader) Accounts() ([]store.Account, error) { return all(r, accounts, r.anywhere()) }

// Workspace implements store.AccountReader.
func (r *reader) Workspace(accountID, id string) (store.Workspace, error) {
	return one(r, workspaces, r.where(accountID).and(`t.id = ?`, id))
}

// Workspaces implements store.AccountReader.
func (r *reader) Workspaces(accountID string, within store.Within, s store.Slice) ([]store.Workspace, int, error) {
	w := r.where(accountID)
	if within.Restricted {
		w.and(w.in(`t.id`, within.Workspaces))
	}
	return page(r, workspaces, w, s)
}

// CreateAccount implements store.AccountWriter.
func (t *tx) CreateAccount(a *store.Account) error {
	at, err := t.stamp(accounts.table, "", a.CreatedAt)
	if err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = at, at
	if ok, err := insert(t, accounts, a); ok || err != nil {
		return err
	}
	return &store.ExistsError{ID: a.ID}
}

// UpdateAccount implements store.AccountWriter.
func (t *tx) UpdateAccount(a store.Account) error {
	return t.change(`UPDATE accounts SET status = $1, plan_id = $2, cancels_at = $3, next_plan_id = $4,
		plan_changes_at = $5, updated_at = $6 WHERE id = $7`,
		a.Status, a.PlanID, micros{&a.CancelsAt}, a.NextPlanID,
		micros{&a.PlanChangesAt}, micros{&a.UpdatedAt}, a.ID)
}

// CreateWorkspace implements store.AccountWriter.
func (t *tx) CreateWorkspace(w *store.Workspace) error {
	at, err := t.stamp(workspaces.table, w.AccountID, w.CreatedAt)
	if err != nil {
		return err
	}
	w.CreatedAt, w.UpdatedAt = at, at
	folded := searchText(w.Name)
	if err := t.taken(`SELECT id FROM workspaces WHERE account_id = $1 AND folded_name = $2`, w.AccountID, folded); err != nil {
		return err
	}
	if ok, err := insert(t, workspaces, w, folded); ok || err != nil {
		return err
	}
	return &store.ExistsError{ID: w.ID}
}
