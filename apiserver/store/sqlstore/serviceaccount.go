package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var serviceAccounts = newKind(accounts.name, table[store.ServiceAccount]{
	name: "service_accounts", authority: true, planned: map[string]string{"expires_at": ""},
	unique: func(w *where, a *store.ServiceAccount) *where { return w.and(`t.public_id = ?`, a.PublicID) },
})

func (r *reader) ServiceAccountByPublicID(publicID string) (store.ServiceAccount, error) {
	return one(r, serviceAccounts, r.inAllAccounts().and(`t.public_id = ?`, publicID))
}

func (r *reader) ServiceAccounts(accountID string, s store.Slice) ([]store.ServiceAccount, int, error) {
	return page(r, serviceAccounts, r.inAccount(accountID), s)
}

func (t *tx) TouchServiceAccount(id string, at, latest time.Time) error {
	return t.exec(`UPDATE service_accounts SET last_used_at = $1 WHERE id = $2 AND (last_used_at < $1 OR last_used_at > $3)`,
		at, id, latest)
}
