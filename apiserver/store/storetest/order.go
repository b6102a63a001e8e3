package storetest

import (
	"sync"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// testForeign checks that no object is created in a parent of another account.
func testForeign(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	h.missing(func(tx store.Tx) error {
		m := h.newMailbox(tenant{account: t.account, domain: other.domain}, "ada")
		return tx.CreateMailbox(&m)
	})
	option := h.dedicatedIPOption(other.account, "198.51.100.1")
	for name, create := range map[string]func(store.Tx) error{
		"domain": func(tx store.Tx) error {
			d := h.newDomain(t.account, other.workspace, "c.example")
			return tx.CreateDomain(&d)
		},
		"DNS record": func(tx store.Tx) error {
			r := h.newDNSRecord(tenant{account: t.account, domain: other.domain}, "@", "TXT", "x")
			return tx.CreateDNSRecord(&r)
		},
		"dedicated IP": func(tx store.Tx) error {
			d := h.newDedicatedIP(t.account, option)
			return tx.CreateDedicatedIP(&d)
		},
		"workspace": func(tx store.Tx) error {
			return tx.CreateWorkspace(&store.Workspace{ID: h.id(), AccountID: h.id(), CreatedAt: epoch})
		},
	} {
		assert.Check(h, h.store.Update(h.Context(), create) != nil, "%s: created below another account's object", name)
		assert.Check(h, h.store.Update(h.Context(), func(tx store.Tx) error { _ = create(tx); return nil }) != nil, "%s: the update was kept although a statement failed", name)
	}
}

// testCreationTimes checks that creation times ascend per account and type, even if the
// clock goes back.
func testCreationTimes(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	create := func(owner tenant, local string, given time.Time) time.Time {
		m := h.newMailbox(owner, local)
		m.CreatedAt = given
		h.create(&m)
		equal(h, "UpdatedAt", m.UpdatedAt, m.CreatedAt)
		return m.CreatedAt
	}
	const tick = time.Microsecond
	equal(h, "the first", create(t, "a", epoch), epoch)
	equal(h, "the same", create(t, "b", epoch), epoch.Add(tick))
	equal(h, "an earlier one", create(t, "c", at(-60)), epoch.Add(2*tick))
	equal(h, "a later one", create(t, "d", at(1)), at(1))
	equal(h, "less than a tick", create(t, "e", at(1).Add(tick+1)), at(1).Add(tick))
	equal(h, "another account", create(other, "a", at(-60)), at(-60))

	r := h.newDNSRecord(t, "@", "TXT", "another kind")
	h.create(&r)
	equal(h, "another kind", r.CreatedAt, epoch)

	var times []time.Time
	h.update(func(tx store.Tx) error { // several in one update, one of which fails
		times = nil
		for _, local := range []string{"x", "a", "y", "z"} {
			m := h.newMailbox(t, local)
			if err := tx.CreateMailbox(&m); err == nil {
				times = append(times, m.CreatedAt)
			}
		}
		return nil
	})
	h.ascend(append([]time.Time{at(1).Add(tick)}, times...))
	equal(h, "created", len(times), 3)
}

func (h *harness) ascend(times []time.Time) {
	h.Helper()
	for i := 1; i < len(times); i++ {
		assert.Check(h, times[i-1].Before(times[i]), "%v is followed by %v", times[i-1], times[i])
	}
}

// parallel runs fn n times concurrently.
func parallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}
