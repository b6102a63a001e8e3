package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var masterPasswords = newKind(accounts.name, table[store.MasterPassword]{
	name:    "master_passwords",
	derived: "folded_name", derive: func(p *store.MasterPassword) string { return searchText(p.Name) },
	unique: func(w *where, p *store.MasterPassword) *where {
		return w.and(`t.account_id = ?`, p.AccountID).scope(p.Scope).and(`t.folded_name = ?`, searchText(p.Name))
	},
	visible: func(w *where) *where { return w.outsideUnpaid(`t.scope_id`) },
})

func (r *reader) MasterPasswords(accountID string, f store.ScopedFilter, s store.Slice) ([]store.MasterPassword, int, error) {
	return page(r, masterPasswords, r.inAccount(accountID).scoped(f).search(`t.folded_name`, f.Search), s)
}
