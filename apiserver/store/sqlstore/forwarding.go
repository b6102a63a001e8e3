package sqlstore

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var forwardingRules = newKind(accounts.name, table[store.Forwarding]{
	name: "forwarding_rules", parts: []string{mailQueue.name}, planned: map[string]string{
		"expires_at": `CASE WHEN sent_at > $limit AND expires_at <> 0 THEN expires_at - (sent_at - $now) ELSE expires_at END`, // set together
	},
	derived: "search_text", derive: func(f *store.Forwarding) string { return namesText(f.TargetEmail) },
	unique: func(w *where, f *store.Forwarding) *where {
		return w.and(`t.account_id = ?`, f.AccountID).scope(f.Scope).and(`t.target_email = ?`, f.TargetEmail)
	},
	visible: func(w *where) *where { return w.outsideUnpaid(`t.scope_id`) },
})

func (r *reader) ForwardingByLink(linkHash []byte) (store.Forwarding, error) {
	return one(r, forwardingRules, r.inAllAccounts().and(`t.link_hash = ?`, linkHash))
}

func (r *reader) ForwardingRules(accountID string, f store.ForwardingFilter, s store.Slice) ([]store.Forwarding, int, error) {
	w := r.inAccount(accountID).scoped(f.ScopedFilter).search(`t.search_text`, f.Search)
	if f.VerificationState != "" {
		// The same cases as in store.Forwarding.VerificationState.
		w.and(`CASE WHEN t.internal THEN '`+vocab.VerificationInternal+`'
			WHEN t.verified_at <> 0 THEN '`+vocab.VerificationVerified+`'
			WHEN t.expires_at <> 0 AND t.expires_at <= ? THEN '`+vocab.VerificationExpired+`'
			ELSE '`+vocab.VerificationPending+`' END = ?`, f.Now, f.VerificationState)
	}
	return page(r, forwardingRules, w, s)
}

// releaseForwarding makes pending the rules of every account that forward to a deleted address, or
// to any address in a deleted domain ("@" and its name). Links that were sent stop working: the
// address may belong to somebody else later.
func (t *tx) releaseForwarding(deleted []string, at time.Time) error {
	var released []store.Forwarding
	for _, target := range deleted { // one by one, so that each is a search in the index
		w := t.inAllAccounts().and(`(t.internal OR t.sent_at <> 0)`)
		w.and(`substr(t.target_email, length(rtrim(t.target_email, replace(t.target_email, '@', '')))) = ?`, target[strings.LastIndexByte(target, '@'):])
		if target[0] != '@' {
			w.and(`t.target_email = ?`, target)
		}
		// Without an ORDER BY, for which SQLite would walk all rules.
		rules, err := collect(&t.reader, forwardingRules, w, "")
		if err != nil {
			return err
		}
		released = append(released, rules...)
	}
	slices.SortFunc(released, func(a, b store.Forwarding) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, before := range released {
		after := before
		after.Internal, after.UpdatedAt = false, at
		after.LinkHash, after.SentAt, after.ExpiresAt, after.VerifiedAt = nil, time.Time{}, time.Time{}, time.Time{}
		if err := write(t, forwardingRules, &before, &after, "verification_state"); err != nil {
			return err
		}
	}
	return nil
}
