package storetest

import (
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func dnsRecordID(r store.DNSRecord) string { return strconv.FormatInt(r.ID, 10) }

func dnsRecords(account string, f store.DNSRecordFilter) lister[store.DNSRecord] {
	return func(r store.Reader, s store.Slice) ([]store.DNSRecord, int, error) {
		return r.DNSRecords(account, f, s)
	}
}

func getDNSRecord(account string, id int64) func(store.Reader) (store.DNSRecord, error) {
	return func(r store.Reader) (store.DNSRecord, error) { return r.DNSRecord(account, id) }
}

// dnsRecords creates records in one update.
func (h *harness) dnsRecords(records ...*store.DNSRecord) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		for _, r := range records {
			if err := tx.CreateDNSRecord(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func testDNSRecord(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	mx := h.newDNSRecord(t, "@", "MX", "mx.a.example.")
	mx.Priority, mx.SystemManaged = new(int64(0)), true // a priority of 0 is one
	txt := h.newDNSRecord(t, "_dmarc", "TXT", `"v=DMARC1; p=none" "é"`)
	h.dnsRecords(&mx, &txt)
	if mx.ID <= 0 || txt.ID <= mx.ID {
		h.Errorf("ids %d and %d", mx.ID, txt.ID)
	}
	equal(h, "MX record", read(h, getDNSRecord(t.account, mx.ID)), mx)
	equal(h, "TXT record", read(h, getDNSRecord(t.account, txt.ID)), txt)
	absent(h, getDNSRecord(other.account, mx.ID))
	absent(h, getDNSRecord(t.account, txt.ID+1))

	mx.Value, mx.TTL, mx.Priority, mx.UpdatedAt = "mx2.a.example.", 60, new(int64(20)), at(1)
	h.update(func(tx store.Tx) error {
		changed := mx
		changed.Name, changed.Type, changed.SystemManaged, changed.CreatedAt = "x", "A", false, at(99) // never written
		return tx.UpdateDNSRecord(changed)
	})
	equal(h, "updated", read(h, getDNSRecord(t.account, mx.ID)), mx)

	foreign := mx
	foreign.AccountID = other.account
	h.missing(func(tx store.Tx) error { return tx.UpdateDNSRecord(foreign) })
	h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(other.account, mx.ID) })
	h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, mx.ID) })
	absent(h, getDNSRecord(t.account, mx.ID))
	h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, mx.ID) })
}

func testDNSRecordUnique(h *harness) {
	t := h.tenant("a.example")
	near := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "near.example")}
	a := h.newDNSRecord(t, "www", "A", "192.0.2.1")
	mx := h.newDNSRecord(t, "@", "MX", "mx.a.example.")
	mx.Priority = new(int64(10))
	mx20 := mx
	mx20.Priority = new(int64(20))
	elsewhere := h.newDNSRecord(near, "www", "A", "192.0.2.1")
	h.dnsRecords(&a, &mx, &mx20, &elsewhere)

	for _, r := range []store.DNSRecord{a, mx} { // with and without a priority
		h.exists(dnsRecordID(r), func(tx store.Tx) error {
			again := r
			again.TTL = 60
			return tx.CreateDNSRecord(&again)
		})
	}
	h.exists(dnsRecordID(mx), func(tx store.Tx) error {
		changed := mx20
		changed.Priority = mx.Priority
		return tx.UpdateDNSRecord(changed)
	})
	h.update(func(tx store.Tx) error { return tx.UpdateDNSRecord(mx20) }) // keeps its own
	b := h.newDNSRecord(t, "www", "A", "192.0.2.2")
	h.dnsRecords(&b)
	h.exists(dnsRecordID(a), func(tx store.Tx) error {
		changed := b
		changed.Value = a.Value
		return tx.UpdateDNSRecord(changed)
	})
}

func testDNSRecordFilter(h *harness) {
	t := h.tenant("a.example")
	elsewhere := h.workspace(t.account, "Elsewhere")
	far := tenant{t.account, elsewhere, h.domain(t.account, elsewhere, "far.example")}
	a := h.newDNSRecord(t, "www", "A", "192.0.2.1")
	aaaa := h.newDNSRecord(t, "www", "AAAA", "2001:db8::1")
	apex := h.newDNSRecord(t, "@", "A", "192.0.2.1")
	remote := h.newDNSRecord(far, "www", "A", "192.0.2.1")
	h.dnsRecords(&a, &aaaa, &apex, &remote)
	other := h.newDNSRecord(h.tenant("b.example"), "www", "A", "192.0.2.1")
	h.dnsRecords(&other)

	for _, c := range []struct {
		name   string
		filter store.DNSRecordFilter
		want   []store.DNSRecord
	}{
		{"none", store.DNSRecordFilter{}, []store.DNSRecord{a, aaaa, apex, remote}},
		{"domain", store.DNSRecordFilter{DomainID: t.domain}, []store.DNSRecord{a, aaaa, apex}},
		{"type", store.DNSRecordFilter{Type: "A"}, []store.DNSRecord{a, apex, remote}},
		{"name", store.DNSRecordFilter{Name: "www"}, []store.DNSRecord{a, aaaa, remote}},
		{"within a domain", store.DNSRecordFilter{Within: withinDomains(far.domain)}, []store.DNSRecord{remote}},
		{"within a workspace", store.DNSRecordFilter{Within: withinWorkspaces(t.workspace)}, []store.DNSRecord{a, aaaa, apex}},
		{"within nothing", store.DNSRecordFilter{Within: nothing}, nil},
		{"all", store.DNSRecordFilter{
			DomainID: t.domain, Type: "A", Name: "www", Within: withinWorkspaces(t.workspace, elsewhere),
		}, []store.DNSRecord{a}},
	} {
		lists(h, c.name, dnsRecordID, dnsRecords(t.account, c.filter), idsOf(c.want, dnsRecordID)...)
	}
}

// testDNSRecordIDs checks that no id is used twice.
func testDNSRecordIDs(h *harness) {
	t := h.tenant("a.example")
	seen := make(map[int64]bool)
	for range 5 {
		r := h.newDNSRecord(t, "@", "TXT", "value")
		h.dnsRecords(&r)
		if seen[r.ID] {
			h.Errorf("id %d is used again", r.ID)
		}
		seen[r.ID] = true
		h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
	}
}
