package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func (h *harness) forwarding(account, target string, scope store.Scope) string {
	h.Helper()
	f := h.newForwarding(account, target, scope)
	h.create(&f)
	return f.ID
}

func testForwardingLink(h *harness) {
	t := h.tenant("a.example")
	f := h.newForwarding(t.account, "ops@c.example", accountScope(t))
	f.LinkHash = []byte{7, 0, 9}
	h.create(&f)
	h.forwarding(t.account, "no-link@c.example", accountScope(t))
	byLink := func(hash []byte) func(store.Reader) (store.Forwarding, error) {
		return func(r store.Reader) (store.Forwarding, error) { return r.ForwardingByLink(hash) }
	}
	equal(h, "rule by link", read(h, byLink(f.LinkHash)), f)
	absent(h, byLink([]byte{7}))
	absent(h, byLink(nil))

	f.TargetEmail = "Ops@d.example"
	h.update(func(tx store.Tx) error {
		_, err := tx.UpdateForwarding(f.AccountID, f.ID, replaceWith(f))
		return err
	})
	lists(h, "by the new target", forwardingRules(t.account, store.ForwardingFilter{
		ScopedFilter: store.ScopedFilter{Search: "@D.EX"},
	}), f.ID)
}

// testForwardingReleased checks that deleting an address makes exactly the confirmed rules
// that forward to it pending, in every scope and account, ordered by account and creation.
func testForwardingReleased(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	gone := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "gone.example")}
	ada := h.withAliases(t, "ada", "info@a.example", "ada@gone.example")
	h.create(&ada)
	rule := func(account, target string, scope store.Scope, confirm func(*store.Forwarding)) *store.Forwarding {
		f := h.newForwarding(account, target, scope)
		confirm(&f)
		h.create(&f)
		return &f
	}
	internal := func(f *store.Forwarding) { f.Internal = true }
	disabled := func(f *store.Forwarding) { f.Internal, f.Enabled = true, false }
	pending := func(f *store.Forwarding) {
		f.LinkHash, f.SentAt, f.ExpiresAt = []byte(f.ID), at(0), at(10_000_001)
	}
	verified := func(f *store.Forwarding) { pending(f); f.VerifiedAt = at(1) }
	toAda := []*store.Forwarding{
		rule(other.account, "ada@a.example", accountScope(other), verified),
		rule(t.account, "ada@a.example", accountScope(t), internal),
		rule(t.account, "ada@a.example", workspaceScope(t.workspace), internal),
		rule(t.account, "info@a.example", domainScope(t.domain), disabled),
		rule(t.account, "ada@a.example", domainScope(t.domain), verified),
	}
	toGone := []*store.Forwarding{rule(t.account, "ada@gone.example", accountScope(t), internal), rule(t.account, "ada@gone.example", domainScope(t.domain), internal)}
	deleted := rule(t.account, "ada@a.example", domainScope(gone.domain), internal) // with its domain
	unrelated := []*store.Forwarding{
		rule(other.account, "ada@a.example", domainScope(other.domain), pending), rule(t.account, "bob@a.example", accountScope(t), internal),
	}

	released := func(when time.Time, rules []*store.Forwarding, delete func(store.Tx) error) {
		h.Helper()
		var want, got []store.Change
		for _, f := range rules {
			before := *f
			f.Internal, f.LinkHash, f.UpdatedAt = false, nil, when
			f.SentAt, f.ExpiresAt, f.VerifiedAt = time.Time{}, time.Time{}, time.Time{}
			want = append(want, store.Change{Before: &before, After: f, Fields: []string{"verification_state"}})
		}
		slices.SortStableFunc(want, func(a, b store.Change) int {
			return cmp.Compare(a.After.(*store.Forwarding).AccountID, b.After.(*store.Forwarding).AccountID)
		})
		for _, c := range h.observed(delete) {
			if _, isRule := c.After.(*store.Forwarding); isRule {
				got = append(got, c)
			}
		}
		equal(h, "released", got, want)
	}
	released(at(20), toGone, func(tx store.Tx) error { return tx.DeleteDomain(t.account, gone.domain, at(20)) })
	released(at(30), toAda, func(tx store.Tx) error { return tx.DeleteMailbox(t.account, ada.ID, at(30)) })
	absent(h, of(store.Reader.Forwarding, t.account, deleted.ID))
	for _, f := range slices.Concat(toAda, toGone, unrelated) {
		equal(h, "rule to "+f.TargetEmail, read(h, of(store.Reader.Forwarding, f.AccountID, f.ID)), *f)
	}
	equal(h, "state", toAda[0].VerificationState(at(10_000_000)), vocab.VerificationPending)
}
