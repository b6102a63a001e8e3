package storetest

import (
	"errors"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func updateDNSRecord(to store.DNSRecord) func(store.Tx) error {
	return func(tx store.Tx) error {
		got, err := tx.UpdateDNSRecord(to.AccountID, to.ID, replaceWith(to))
		if err == nil && got.Value != to.Value {
			err = errors.New("it returned another value")
		}
		return err
	}
}

// testDNSRecordReplaced checks which of the customer's records hide a system-managed
// record.
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
	h.create(&mx, &mx2, &spf, &dmarc, &dkim, &untouched)

	shown := func(what string, want ...store.DNSRecord) {
		h.Helper()
		lists(h, what, dnsRecords(t.account, store.DNSRecordFilter{DomainID: t.domain}), idsOf(want)...)
		for _, r := range []store.DNSRecord{mx, mx2, spf, dmarc, dkim} {
			get := of(store.Reader.DNSRecord, t.account, r.ID)
			if slices.ContainsFunc(want, func(w store.DNSRecord) bool { return w.ID == r.ID }) {
				equal(h, what, read(h, get), r)
				continue
			}
			absent(h, get)
			h.missing(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
		}
		lists(h, what+", elsewhere", dnsRecords(t.account, store.DNSRecordFilter{DomainID: near.domain}), idOf(untouched))
	}
	remove := func(r store.DNSRecord) {
		h.Helper()
		h.update(func(tx store.Tx) error { return tx.DeleteDNSRecord(t.account, r.ID) })
	}
	shown("at first", mx, mx2, spf, dmarc, dkim)

	// A record with another name or purpose hides nothing.
	others := []store.DNSRecord{
		h.newDNSRecord(t, "www", "TXT", "v=spf1 -all"), h.newDNSRecord(t, "www", "MX", "mx.example.net"),
		h.newDNSRecord(t, "_dmarc", "TXT", "v=spf1 -all"), h.newDNSRecord(t, "@", "TXT", "v=DMARC1; p=none"),
		h.newDNSRecord(t, "@", "TXT", "v=spf10 -all"), h.newDNSRecord(t, "_dmarc", "TXT", "v=dmarc1; p=none"),
		h.newDNSRecord(t, "x._domainkey", "TXT", "v=DKIM1; p=y"), h.newDNSRecord(t, "_dmarc", "A", "192.0.2.1"),
	}
	for i := range others {
		h.create(&others[i])
	}
	shown("beside others", append([]store.DNSRecord{mx, mx2, spf, dmarc, dkim}, others...)...)
	for _, r := range others {
		remove(r)
	}

	own := h.newDNSRecord(t, "@", "MX", mx.Value)
	own.Priority = mx.Priority // identical to the hidden record
	h.create(&own)
	shown("MX replaced", spf, dmarc, dkim, own)
	again := own
	again.ID = 1
	h.taken(idOf(own), &again)
	h.taken(idOf(dkim), new(h.newDNSRecord(t, dkim.Name, dkim.Type, dkim.Value)))
	second := h.newDNSRecord(t, "@", "MX", "mx.example.net")
	second.Priority = new(int64(5))
	h.create(&second)
	remove(own)
	shown("MX replaced by one that is left", spf, dmarc, dkim, second)
	remove(second)
	shown("MX back", mx, mx2, spf, dmarc, dkim)

	text := h.newDNSRecord(t, "@", "TXT", "V=SPF1 mx -all")
	policy := h.newDNSRecord(t, "_dmarc", "TXT", "v=DMARC1;p=reject")
	h.create(&text, &policy)
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
