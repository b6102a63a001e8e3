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
	h.update(updateForwarding(f))
	lists(h, "by the new target", forwardingRules(t.account, store.ForwardingFilter{
		ScopedFilter: store.ScopedFilter{Search: "@D.EX"},
	}), f.ID)
}

func updateForwarding(to store.Forwarding) func(store.Tx) error {
	return func(tx store.Tx) error {
		_, err := tx.UpdateForwarding(to.AccountID, to.ID, replaceWith(to))
		return err
	}
}

// testForwardingReleased checks that deleting an address makes exactly the confirmed rules
// that forward to it pending, in every scope and account.
func testForwardingReleased(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	gone := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "gone.example")}
	ada := h.withAliases(t, "ada", "info@a.example", "ada@gone.example")
	h.create(&ada)
	internal := func(account, target string, scope store.Scope) store.Forwarding {
		f := h.newForwarding(account, target, scope)
		f.Internal = true
		h.create(&f)
		return f
	}
	get := func(want store.Forwarding) {
		h.Helper()
		equal(h, "rule to "+want.TargetEmail, read(h, of(store.Reader.Forwarding, want.AccountID, want.ID)), want)
	}
	rules := []store.Forwarding{
		internal(t.account, "ada@a.example", accountScope(t)),
		internal(t.account, "ada@a.example", workspaceScope(t.workspace)),
		internal(t.account, "info@a.example", domainScope(t.domain)),
		internal(t.account, "ada@gone.example", accountScope(t)),
	}
	rules[2].Enabled = false
	h.update(updateForwarding(rules[2]))
	for i, of := range []struct {
		account string
		scope   store.Scope
	}{{t.account, domainScope(t.domain)}, {other.account, accountScope(other)}} {
		verified := h.newForwarding(of.account, "ada@a.example", of.scope)
		verified.LinkHash, verified.SentAt, verified.ExpiresAt, verified.VerifiedAt = []byte{byte(i)}, at(0), at(10), at(1)
		h.create(&verified)
		rules = append(rules, verified)
	}
	pending := h.newForwarding(other.account, "ada@a.example", domainScope(other.domain))
	pending.LinkHash, pending.SentAt, pending.ExpiresAt = []byte{9}, at(0), at(10_000_001)
	h.create(&pending)
	unrelated := []store.Forwarding{pending, internal(t.account, "bob@a.example", accountScope(t))}
	inScope := internal(t.account, "ada@gone.example", domainScope(t.domain))

	released := func(changes []store.Change, want ...store.Forwarding) {
		h.Helper()
		for i := range want {
			want[i].Internal, want[i].LinkHash = false, nil
			want[i].SentAt, want[i].ExpiresAt, want[i].VerifiedAt = time.Time{}, time.Time{}, time.Time{}
		}
		var got []store.Forwarding
		for _, c := range changes {
			if f, ok := c.After.(*store.Forwarding); ok {
				got = append(got, *f)
				equal(h, "fields", c.Fields, []string{"verification_state"})
			}
		}
		equal(h, "released", got, want)
		for _, f := range want {
			get(f)
			equal(h, "state", f.VerificationState(at(10_000_000)), vocab.VerificationPending)
		}
	}
	// A rule in the deleted domain is deleted instead of released.
	inGone := internal(t.account, "ada@a.example", domainScope(gone.domain))
	changes := h.observed(func(tx store.Tx) error { return tx.DeleteDomain(t.account, gone.domain, at(20)) })
	absent(h, of(store.Reader.Forwarding, t.account, inGone.ID))
	rules[3].UpdatedAt, inScope.UpdatedAt = at(20), at(20)
	released(changes, rules[3], inScope)
	rules = slices.Delete(rules, 3, 4)
	changes = h.observed(func(tx store.Tx) error { return tx.DeleteMailbox(t.account, ada.ID, at(30)) })
	for i := range rules {
		rules[i].UpdatedAt = at(30)
	}
	slices.SortStableFunc(rules, func(a, b store.Forwarding) int { return cmp.Compare(a.AccountID, b.AccountID) })
	released(changes, rules...)
	for _, f := range unrelated {
		get(f)
	}
}
