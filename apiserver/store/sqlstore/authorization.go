package sqlstore

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var authorizations = of(kind[store.Authorization]{
	table: "authorizations",
	columns: []string{"id", "account_id", "grant_kind", "subject_type", "subject_id", "capability_key",
		"resource_type", "resource_id", "created_at", "revoked_at"},
	fields: func(a *store.Authorization) []any {
		return []any{&a.ID, &a.AccountID, &a.GrantKind, &a.SubjectType, &a.SubjectID, &a.CapabilityKey,
			&a.ResourceType, &a.ResourceID, micros{&a.CreatedAt}, micros{&a.RevokedAt}}
	},
})

// Authorization implements store.AuthorizationReader.
func (r *reader) Authorization(accountID, id string) (store.Authorization, error) {
	return one(r, authorizations, r.where(accountID).and(`t.id = ?`, id))
}

// Authorizations implements store.AuthorizationReader.
func (r *reader) Authorizations(accountID string, f store.AuthorizationFilter) ([]store.Authorization, error) {
	w := r.where(accountID).
		equal(`t.subject_type`, f.SubjectType).
		equal(`t.subject_id`, f.SubjectID).
		equal(`t.grant_kind`, f.GrantKind).
		equal(`t.capability_key`, f.CapabilityKey)
	if !f.IncludeRevoked {
		w.and(`t.revoked_at = 0`)
	}
	return all(r, authorizations, w)
}

// GrantsOf implements store.AuthorizationReader.
func (r *reader) GrantsOf(accountID string, subjects []store.Subject) ([]store.Authorization, error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	ids := make(map[string][]string) // by type; there are few types
	for _, s := range subjects {
		ids[s.Type] = append(ids[s.Type], s.ID)
	}
	w := r.where(accountID).and(`t.revoked_at = 0`)
	var conditions []string
	for _, t := range slices.Sorted(maps.Keys(ids)) {
		conditions = append(conditions, `t.subject_type = `+w.bind(t)+` AND `+w.in(`t.subject_id`, ids[t]))
	}
	return all(r, authorizations, w.and(`(`+strings.Join(conditions, ` OR `)+`)`))
}

// CreateAuthorization implements store.AuthorizationWriter.
func (t *tx) CreateAuthorization(a *store.Authorization) error {
	at, err := t.stamp(authorizations.table, a.AccountID, a.CreatedAt)
	if err != nil {
		return err
	}
	a.CreatedAt = at
	if ok, err := insert(t, authorizations, a); ok || err != nil {
		return err
	}
	return &store.ExistsError{ID: a.ID}
}

// RevokeAuthorization implements store.AuthorizationWriter.
func (t *tx) RevokeAuthorization(accountID, id string, at time.Time) error {
	err := t.change(`UPDATE authorizations SET revoked_at = $1 WHERE account_id = $2 AND id = $3 AND revoked_at = 0`,
		micros{&at}, accountID, id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = t.Authorization(accountID, id) // revoked already, or not there
	return err
}
