package sqlstore

import (
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var serviceAccounts = of(kind[store.ServiceAccount]{
	table: "service_accounts",
	columns: []string{"id", "account_id", "name", "public_id", "secret_hash", "last4", "created_by_user_id",
		"expires_at", "last_used_at", "revoked_at", "revoked_by_user_id", "created_at", "updated_at"},
	fields: func(a *store.ServiceAccount) []any {
		return []any{&a.ID, &a.AccountID, &a.Name, &a.PublicID, &a.SecretHash, &a.Last4, &a.CreatedByUserID,
			micros{&a.ExpiresAt}, micros{&a.LastUsedAt}, micros{&a.RevokedAt}, &a.RevokedByUserID,
			micros{&a.CreatedAt}, micros{&a.UpdatedAt}}
	},
})

// ServiceAccount implements store.ServiceAccountReader.
func (r *reader) ServiceAccount(accountID, id string) (store.ServiceAccount, error) {
	return one(r, serviceAccounts, r.where(accountID).and(`t.id = ?`, id))
}

// ServiceAccountByPublicID implements store.ServiceAccountReader.
func (r *reader) ServiceAccountByPublicID(publicID string) (store.ServiceAccount, error) {
	return one(r, serviceAccounts, r.anywhere().and(`t.public_id = ?`, publicID))
}

// ServiceAccounts implements store.ServiceAccountReader.
func (r *reader) ServiceAccounts(accountID string, s store.Slice) ([]store.ServiceAccount, int, error) {
	return page(r, serviceAccounts, r.where(accountID), s)
}

// CreateServiceAccount implements store.ServiceAccountWriter.
func (t *tx) CreateServiceAccount(a *store.ServiceAccount) error {
	at, err := t.stamp(serviceAccounts.table, a.AccountID, a.CreatedAt)
	if err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = at, at
	if ok, err := insert(t, serviceAccounts, a); ok || err != nil {
		return err
	}
	return t.exists(serviceAccounts.table, a.ID, `public_id = $1`, a.PublicID)
}

// RevokeServiceAccount implements store.ServiceAccountWriter.
func (t *tx) RevokeServiceAccount(accountID, id, byUserID string, at time.Time) error {
	err := t.change(`UPDATE service_accounts SET revoked_at = $1, revoked_by_user_id = $2, updated_at = $1
		WHERE account_id = $3 AND id = $4 AND revoked_at = 0`, micros{&at}, byUserID, accountID, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = t.ServiceAccount(accountID, id) // revoked already, or not there
	return err
}

// TouchServiceAccount implements store.ServiceAccountWriter.
func (t *tx) TouchServiceAccount(id string, at time.Time) error {
	err := t.change(`UPDATE service_accounts SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1`,
		micros{&at}, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = one(&t.reader, serviceAccounts, t.anywhere().and(`t.id = ?`, id))
	return err
}
