package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var masterPasswords = newTable(table[store.MasterPassword]{
	name:    "master_passwords",
	derived: "folded_name", derive: func(p *store.MasterPassword) string { return searchText(p.Name) },
	unique: func(w *where, p *store.MasterPassword) *where {
		return w.and(`t.account_id = ?`, p.AccountID).scope(p.Scope).and(`t.folded_name = ?`, searchText(p.Name))
	},
	visible: func(w *where) *where { return w.outsideUnpaid(`t.scope_id`) },
})

func (r *reader) MasterPassword(accountID, id string) (store.MasterPassword, error) {
	return get(r, masterPasswords, accountID, id)
}

func (r *reader) MasterPasswords(accountID string, f store.ScopedFilter, s store.Slice) ([]store.MasterPassword, int, error) {
	return page(r, masterPasswords, r.inAccount(accountID).scoped(f).search(`t.folded_name`, f.Search), s)
}

func (t *tx) CreateMasterPassword(p *store.MasterPassword) error {
	return create(t, masterPasswords, p)
}

func (t *tx) UpdateMasterPassword(accountID, id string, change func(*store.MasterPassword) error) (store.MasterPassword, error) {
	return update(t, masterPasswords, accountID, id, change)
}

func (t *tx) DeleteMasterPassword(accountID, id string) error {
	_, err := removeOne(t, masterPasswords, accountID, id)
	return err
}
