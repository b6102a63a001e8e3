package sqlstore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var forwardingRules = of(kind[store.Forwarding]{
	table: "forwarding_rules",
	columns: []string{"id", "account_id", "scope_type", "scope_id", "target_email", "enabled", "internal",
		"link_hash", "sent_at", "expires_at", "verified_at", "created_at", "updated_at"},
	written: []string{"search_text"},
	fields: func(f *store.Forwarding) []any {
		return []any{&f.ID, &f.AccountID, &f.Scope.Type, &f.Scope.ID, &f.TargetEmail, &f.Enabled, &f.Internal,
			&f.LinkHash, micros{&f.SentAt}, micros{&f.ExpiresAt}, micros{&f.VerifiedAt},
			micros{&f.CreatedAt}, micros{&f.UpdatedAt}}
	},
})

// Forwarding implements store.ForwardingReader.
func (r *reader) Forwarding(accountID, id string) (store.Forwarding, error) {
	return one(r, forwardingRules, r.where(accountID).and(`t.id = ?`, id).inPaid(`t.scope_id`))
}

// ForwardingByLink implements store.ForwardingReader.
func (r *reader) ForwardingByLink(linkHash []byte) (store.Forwarding, error) {
	if len(linkHash) == 0 {
		return store.Forwarding{}, store.ErrNotFound // what a rule without a link has
	}
	return one(r, forwardingRules, r.anywhere().and(`t.link_hash = ?`, linkHash))
}

// ForwardingRules implements store.ForwardingReader.
func (r *reader) ForwardingRules(
	accountID string, f store.ForwardingFilter, s store.Slice,
) ([]store.Forwarding, int, error) {
	w := r.where(accountID).scoped(f.ScopedFilter).searchNames(`t.search_text`, f.Search).inPaid(`t.scope_id`)
	if f.VerificationState != "" {
		// The same cases as in store.Forwarding.VerificationState.
		w.and(`CASE WHEN t.internal THEN '`+vocab.VerificationInternal+`'
			WHEN t.verified_at <> 0 THEN '`+vocab.VerificationVerified+`'
			WHEN t.expires_at <> 0 AND t.expires_at <= ? THEN '`+vocab.VerificationExpired+`'
			ELSE '`+vocab.VerificationPending+`' END = ?`, micros{&f.Now}, f.VerificationState)
	}
	return page(r, forwardingRules, w, s)
}

// CreateForwarding implements store.ForwardingWriter.
func (t *tx) CreateForwarding(f *store.Forwarding) error {
	at, err := t.stamp(forwardingRules.table, f.AccountID, f.CreatedAt)
	if err != nil {
		return err
	}
	f.CreatedAt, f.UpdatedAt = at, at
	if ok, err := insert(t, forwardingRules, f, namesText(f.TargetEmail)); ok || err != nil {
		return err
	}
	return t.exists(forwardingRules.table, f.ID,
		`account_id = $1 AND scope_type = $2 AND scope_id = $3 AND target_email = $4`,
		f.AccountID, f.Scope.Type, f.Scope.ID, f.TargetEmail)
}

// UpdateForwarding implements store.ForwardingWriter.
func (t *tx) UpdateForwarding(f store.Forwarding) error {
	if err := t.taken(`SELECT other.id FROM forwarding_rules f
		JOIN forwarding_rules other ON other.account_id = f.account_id AND other.scope_type = f.scope_type
			AND other.scope_id = f.scope_id AND other.target_email = $3 AND other.id <> f.id
		WHERE f.account_id = $1 AND f.id = $2`, f.AccountID, f.ID, f.TargetEmail); err != nil {
		return err
	}
	return t.change(`UPDATE forwarding_rules SET target_email = $1, search_text = $2, enabled = $3, internal = $4,
		link_hash = $5, sent_at = $6, expires_at = $7, verified_at = $8, updated_at = $9
		WHERE account_id = $10 AND id = $11`,
		f.TargetEmail, namesText(f.TargetEmail), f.Enabled, f.Internal,
		f.LinkHash, micros{&f.SentAt}, micros{&f.ExpiresAt}, micros{&f.VerifiedAt}, micros{&f.UpdatedAt},
		f.AccountID, f.ID)
}

// releaseForwarding makes the internal rules to addresses that are deleted
// pending, and returns them.
func (t *tx) releaseForwarding(accountID string, addresses []string, at time.Time) (released []store.Forwarding, err error) {
	for _, address := range addresses { // one by one, so that each is a search in the index
		w := t.where(accountID).and(`t.internal`).and(`t.target_email = ?`, address)
		// Without an ORDER BY, for which SQLite would walk all rules of the account.
		rules, err := collect(&t.reader, forwardingRules, forwardingRules.selection+` FROM forwarding_rules t`+w.text.String(), w.args)
		if err != nil {
			return nil, err
		}
		if len(rules) == 0 {
			continue
		}
		// The link and the times of a verification are not set in an internal rule.
		if _, err := t.exec(`UPDATE forwarding_rules AS t SET internal = `+w.bind(false)+`, updated_at = `+w.bind(micros{&at})+
			w.text.String(), w.args...); err != nil {
			return nil, fmt.Errorf("release forwarding rules: %w", err)
		}
		for _, f := range rules {
			f.Internal, f.UpdatedAt = false, at
			released = append(released, f)
		}
	}
	slices.SortFunc(released, func(a, b store.Forwarding) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return released, nil
}

// DeleteForwarding implements store.ForwardingWriter.
func (t *tx) DeleteForwarding(accountID, id string) error {
	return t.change(`DELETE FROM forwarding_rules WHERE account_id = $1 AND id = $2`, accountID, id)
}
