package sqlstore

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const accountsTable = "accounts"

// repairedCancellation is at the latest at the end of the current period. An account that was never updated was
// created by a fixture, which may choose any time.
const repairedCancellation = `CASE
	WHEN status = '` + vocab.AccountCancelled + `' AND cancels_at > $limit THEN $now
	WHEN status = '` + vocab.AccountPendingCancellation + `' AND cancels_at > $period_end AND updated_at <> created_at THEN $period_end
	ELSE cancels_at END`

var accounts = newKind("", table[store.Account]{
	name: accountsTable, authority: true, planned: map[string]string{"cancels_at": repairedCancellation, "plan_changes_at": ""},
})

var workspaces = newKind(accounts.name, table[store.Workspace]{
	name:    "workspaces",
	derived: "folded_name", derive: func(w *store.Workspace) string { return searchText(w.Name) },
	unique: func(w *where, v *store.Workspace) *where {
		return w.and(`t.account_id = ?`, v.AccountID).and(`t.folded_name = ?`, searchText(v.Name))
	},
})

func (r *reader) Account(id string) (store.Account, error) {
	return get(r, accounts, id, id)
}

func (r *reader) Accounts() ([]store.Account, error) {
	r.lockAccounts()
	return all(r, accounts, r.inAllAccounts())
}

func (r *reader) Workspaces(accountID string, within store.Within, s store.Slice) ([]store.Workspace, int, error) {
	w := r.inAccount(accountID)
	if within.Restricted {
		w.and(w.in(`t.id`, within.Workspaces))
	}
	return page(r, workspaces, w, s)
}

func (t *tx) DeleteAccount(id string) error {
	t.lockAccount(id)
	for _, k := range slices.Backward(kinds) {
		if k.parent != accounts.name || k.restrict {
			continue
		}
		if err := t.exec(`DELETE FROM `+k.name+` WHERE account_id = $1`, id); err != nil {
			return err
		}
	}
	_, err := removeOne(t, accounts, id, id)
	return err
}

var _ = newKind(accounts.name, table[store.Feedback]{name: "feedback"})

// An update must be alone on each account that it reads or writes. In an engine with a Locker it
// locks an account at the first query with the account's id. Rows that it finds without an account's
// id are read again if their account was not locked before.

// lockAccount locks an account, and reports whether the update locked it for the first time.
func (r *reader) lockAccount(id string) bool {
	return r.locker != nil && id != "" && r.locker.LockAccount(r.ctx, id)
}

func (r *reader) lockAccounts() {
	if r.locker != nil {
		r.locker.LockAccounts(r.ctx)
	}
}

// lockOwners locks the objects' accounts, and reports whether any of them was not locked before.
func lockOwners[T any](r *reader, tbl *table[T], items []T) (outdated bool) {
	if r.locker == nil || tbl.account < 0 {
		return false
	}
	for i := range items {
		if r.lockAccount(*tbl.fields(&items[i])[tbl.account].(*string)) {
			outdated = true
		}
	}
	return outdated
}
