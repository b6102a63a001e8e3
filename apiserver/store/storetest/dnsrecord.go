package storetest

import (
	"errors"
	"slices"
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
	equal(h, "MX record", read(h, getDNSRecord(t.account, mx.ID)), mx)
	equal(h, "TXT record", read(h, getDNSRecord(t.account, txt.ID)), txt)
	absent(h, getDNSRecord(other.account, mx.ID))
	absent(h, getDNSRecord(t.account, txt.ID-1))

	mx.Value, mx.TTL, mx.Priority, mx.UpdatedAt = "mx2.a.example.", 60, new(int64(20)), at(1)
	h.update(updateDNSRecord(mx))
	equal(h, "updated", read(h, getDNSRecord(t.account, mx.ID)), mx)

	foreign := mx
	foreign.AccountID = other.account
	h.missing(updateDNSRecord(foreign))
	for _, change := range []func(*store.DNSRecord){
		func(r *store.DNSRecord) { r.Name = "x" }, func(r *store.DNSRecord) { r.Type = "A" },
		func(r *store.DNSRecord) { r.SystemManaged = false }, func(r *store.DNSRecord) { r.CreatedAt = at(99) },
	} {
		changed := mx
		change(&changed)
		h.fixed(updateDNSRecord(changed))
	}
	h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(other.account, mx.ID) })
	h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, mx.ID) })
	absent(h, getDNSRecord(t.account, mx.ID))
	h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, mx.ID) })
}

func updateDNSRecord(to store.DNSRecord) func(store.Tx) error {
	return func(tx store.Tx) error {
		got, err := tx.UpdateDNSRecord(to.AccountID, to.ID, becomes(to))
		if err == nil && got.Value != to.Value {
			err = errors.New("it returned another value")
		}
		return err
	}
}

func testDNSRecordUnique(h *harness) {
	t := h.tenant("a.example")
	near := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "near.example")}
	a := h.newDNSRecord(t, "www", "A", "192.0.2.1")
	mx := h.newDNSRecord(t, "@", "MX", "mx.a.example.")
	mx.Priority = new(int64(10))
	mx20 := h.newDNSRecord(t, "@", "MX", mx.Value)
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
	changed := mx20
	changed.Priority = mx.Priority
	h.exists(dnsRecordID(mx), updateDNSRecord(changed))
	mx20.TTL = 60
	h.update(updateDNSRecord(mx20)) // keeps its own
	b := h.newDNSRecord(t, "www", "A", "192.0.2.2")
	h.dnsRecords(&b)
	changed = b
	changed.Value = a.Value
	h.exists(dnsRecordID(a), updateDNSRecord(changed))
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

// testDNSRecordIDs checks that an id is unique in the whole store.
func testDNSRecordIDs(h *harness) {
	t, other := h.tenant("a.example"), h.tenant("b.example")
	r := h.newDNSRecord(t, "@", "TXT", "value")
	h.dnsRecords(&r)
	for _, second := range []store.DNSRecord{h.newDNSRecord(t, "@", "TXT", "another value"), h.newDNSRecord(other, "@", "TXT", "value")} {
		second.ID = r.ID
		h.exists(dnsRecordID(r), func(tx store.Tx) error { return tx.CreateDNSRecord(&second) })
	}
	h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
	absent(h, getDNSRecord(t.account, r.ID))
}

// testDNSRecordReplaced checks when the customer's records hide the system-managed
// ones.
func testDNSRecordReplaced(h *harness) {
	t := h.tenant("a.example")
	near := tenant{t.account, t.workspace, h.domain(t.account, t.workspace, "near.example")}
	system := func(t tenant, name, kind, value string) store.DNSRecord {
		r := h.newDNSRecord(t, name, kind, value)
		r.SystemManaged = true
		return r
	}
	mx, mx2 := system(t, "@", "MX", "mx1.host.example"), system(t, "@", "MX", "mx2.host.example")
	mx.Priority, mx2.Priority = new(int64(10)), new(int64(20))
	spf, dmarc, dkim := system(t, "@", "TXT", "v=spf1 -all"), system(t, "_dmarc", "TXT", "v=DMARC1; p=none"), system(t, "x._domainkey", "TXT", "v=DKIM1; p=x")
	untouched := system(near, "@", "TXT", "v=spf1 -all")
	h.dnsRecords(&mx, &mx2, &spf, &dmarc, &dkim, &untouched)

	shown := func(what string, want ...store.DNSRecord) {
		h.Helper()
		lists(h, what, dnsRecordID, dnsRecords(t.account, store.DNSRecordFilter{DomainID: t.domain}), idsOf(want, dnsRecordID)...)
		for _, r := range []store.DNSRecord{mx, mx2, spf, dmarc, dkim} {
			get := getDNSRecord(t.account, r.ID)
			if slices.ContainsFunc(want, func(w store.DNSRecord) bool { return w.ID == r.ID }) {
				equal(h, what, read(h, get), r)
				continue
			}
			absent(h, get)
			h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
		}
		lists(h, what+", elsewhere", dnsRecordID, dnsRecords(t.account, store.DNSRecordFilter{DomainID: near.domain}), dnsRecordID(untouched))
	}
	remove := func(r store.DNSRecord) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
	}
	shown("at first", mx, mx2, spf, dmarc, dkim)

	// What has another name or another purpose replaces nothing.
	others := []store.DNSRecord{
		h.newDNSRecord(t, "www", "TXT", "v=spf1 -all"), h.newDNSRecord(t, "www", "MX", "mx.example.net"),
		h.newDNSRecord(t, "_dmarc", "TXT", "v=spf1 -all"), h.newDNSRecord(t, "@", "TXT", "v=DMARC1; p=none"),
		h.newDNSRecord(t, "@", "TXT", "v=spf10 -all"), h.newDNSRecord(t, "_dmarc", "TXT", "v=dmarc1; p=none"),
		h.newDNSRecord(t, "x._domainkey", "TXT", "v=DKIM1; p=y"), h.newDNSRecord(t, "_dmarc", "A", "192.0.2.1"),
	}
	for i := range others {
		h.dnsRecords(&others[i])
	}
	shown("beside others", append([]store.DNSRecord{mx, mx2, spf, dmarc, dkim}, others...)...)
	for _, r := range others {
		remove(r)
	}

	own := h.newDNSRecord(t, "@", "MX", mx.Value)
	own.Priority = mx.Priority // identical to one that it replaces
	h.dnsRecords(&own)
	shown("MX replaced", spf, dmarc, dkim, own)
	h.exists(dnsRecordID(own), func(tx store.Tx) error {
		again := own
		again.ID = 1
		return tx.CreateDNSRecord(&again)
	})
	h.exists(dnsRecordID(dkim), func(tx store.Tx) error {
		same := h.newDNSRecord(t, dkim.Name, dkim.Type, dkim.Value)
		return tx.CreateDNSRecord(&same)
	})
	second := h.newDNSRecord(t, "@", "MX", "mx.example.net")
	second.Priority = new(int64(5))
	h.dnsRecords(&second)
	remove(own)
	shown("MX replaced by one that is left", spf, dmarc, dkim, second)
	remove(second)
	shown("MX back", mx, mx2, spf, dmarc, dkim)

	text := h.newDNSRecord(t, "@", "TXT", "V=SPF1 mx -all")
	policy := h.newDNSRecord(t, "_dmarc", "TXT", "v=DMARC1;p=reject")
	h.dnsRecords(&text, &policy)
	shown("policies replaced", mx, mx2, dkim, text, policy)
	change := func(r *store.DNSRecord, value string) {
		h.Helper()
		r.Value = value
		h.update(updateDNSRecord(*r))
	}
	change(&text, "no policy")
	shown("SPF changed to a text", mx, mx2, spf, dkim, text, policy)
	change(&text, "v=spf1")
	shown("a text changed to SPF", mx, mx2, dkim, text, policy)
	remove(text)
	remove(policy)
	shown("in the end", mx, mx2, spf, dmarc, dkim)
}
