package sqlstore

import (
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var authorizations = newKind(accounts.name, table[store.Authorization]{name: "authorizations", authority: true})

func (r *reader) Authorizations(accountID string, f store.AuthorizationFilter) ([]store.Authorization, error) {
	w := r.inAccount(accountID).
		equal(`t.subject_type`, f.SubjectType).
		equal(`t.subject_id`, f.SubjectID).
		equal(`t.grant_kind`, f.GrantKind).
		equal(`t.capability_key`, f.CapabilityKey)
	if !f.IncludeRevoked {
		w.and(`t.revoked_at = 0`)
	}
	return all(r, authorizations, w)
}

func (r *reader) GrantsOf(accountID string, subjects []store.Subject) ([]store.Authorization, error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	ids := make(map[string][]string) // by type; there are few types
	for _, s := range subjects {
		ids[s.Type] = append(ids[s.Type], s.ID)
	}
	w := r.inAccount(accountID).and(`t.revoked_at = 0`)
	var conditions []string
	for _, t := range slices.Sorted(maps.Keys(ids)) {
		conditions = append(conditions, `t.subject_type = `+w.bind(t)+` AND `+w.in(`t.subject_id`, ids[t]))
	}
	return all(r, authorizations, w.and(`(`+strings.Join(conditions, ` OR `)+`)`))
}

// AuthorizationVersion reads the row that the schema's triggers change.
func (r *reader) AuthorizationVersion() (int64, error) {
	return only(column[int64](r, `SELECT version FROM authorization_version`))
}
