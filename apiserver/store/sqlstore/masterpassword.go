package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var masterPasswords = of(kind[store.MasterPassword]{
	table: "master_passwords",
	columns: []string{"id", "account_id", "name", "scope_type", "scope_id", "secret_hash",
		"created_at", "updated_at"},
	written: []string{"search_text"},
	fields: func(p *store.MasterPassword) []any {
		return []any{&p.ID, &p.AccountID, &p.Name, &p.Scope.Type, &p.Scope.ID, &p.SecretHash,
			micros{&p.CreatedAt}, micros{&p.UpdatedAt}}
	},
})

// MasterPassword implements store.MasterPasswordReader.
func (r *reader) MasterPassword(accountID, id string) (store.MasterPassword, error) {
	return one(r, masterPasswords, r.where(accountID).and(`t.id = ?`, id).inPaid(`t.scope_id`))
}

// MasterPasswords implements store.MasterPasswordReader.
func (r *reader) MasterPasswords(
	accountID string, f store.ScopedFilter, s store.Slice,
) ([]store.MasterPassword, int, error) {
	return page(r, masterPasswords, r.where(accountID).scoped(f).search(`t.search_text`, f.Search).inPaid(`t.scope_id`), s)
}

// CreateMasterPassword implements store.MasterPasswordWriter.
func (t *tx) CreateMasterPassword(p *store.MasterPassword) error {
	at, err := t.stamp(masterPasswords.table, p.AccountID, p.CreatedAt)
	if err != nil {
		return err
	}
	p.CreatedAt, p.UpdatedAt = at, at
	folded := searchText(p.Name)
	if err := t.taken(`SELECT id FROM master_passwords
		WHERE account_id = $1 AND scope_type = $2 AND scope_id = $3 AND search_text = $4`,
		p.AccountID, p.Scope.Type, p.Scope.ID, folded); err != nil {
		return err
	}
	if ok, err := insert(t, masterPasswords, p, folded); ok || err != nil {
		return err
	}
	return &store.ExistsError{ID: p.ID}
}

// RenameMasterPassword implements store.MasterPasswordWriter.
func (t *tx) RenameMasterPassword(accountID, id, name string, at time.Time) error {
	if err := t.taken(`SELECT other.id FROM master_passwords p
		JOIN master_passwords other ON other.account_id = p.account_id AND other.scope_type = p.scope_type
			AND other.scope_id = p.scope_id AND other.search_text = $3 AND other.id <> p.id
		WHERE p.account_id = $1 AND p.id = $2`, accountID, id, searchText(name)); err != nil {
		return err
	}
	return t.change(`UPDATE master_passwords SET name = $1, search_text = $2, updated_at = $3
		WHERE account_id = $4 AND id = $5`, name, searchText(name), micros{&at}, accountID, id)
}

// DeleteMasterPassword implements store.MasterPasswordWriter.
func (t *tx) DeleteMasterPassword(accountID, id string) error {
	return t.change(`DELETE FROM master_passwords WHERE account_id = $1 AND id = $2`, accountID, id)
}
