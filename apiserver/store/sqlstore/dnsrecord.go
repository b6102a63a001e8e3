package sqlstore

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var dnsRecords = newKind(domains.name, table[store.DNSRecord]{
	name:    "dns_records",
	derived: "purpose", derive: purposeOf,
	unique:    sameDNSRecord,
	changed:   (*tx).replaceSystemManaged,
	visible:   func(w *where) *where { return w.and(`t.replaced = 0`).outsideUnpaid(`t.domain_id`) },
	elsewhere: map[string]string{"DomainName": "d.name", "WorkspaceID": "d.workspace_id"},
	joins:     ` JOIN domains d ON d.id = t.domain_id`,
})

func (r *reader) DNSRecords(accountID string, f store.DNSRecordFilter, s store.Slice) ([]store.DNSRecord, int, error) {
	w := r.inAccount(accountID).
		equal(`t.domain_id`, f.DomainID).
		equal(`t.type`, f.Type).
		equal(`t.name`, f.Name).
		withinDomains(`t.domain_id`, f.Within)
	if f.Special {
		w.and(`(t.type = 'CNAME' OR t.system_managed OR t.purpose <> '')`)
	}
	return page(r, dnsRecords, w, s)
}

// sameDNSRecord selects the identical record of a domain. A system-managed record and the
// customer's record that replaces it don't count as identical.
func sameDNSRecord(w *where, r *store.DNSRecord) *where {
	priority := int64(-1)
	if r.Priority != nil {
		priority = *r.Priority
	}
	return w.and(`t.domain_id = ? AND t.name = ? AND t.type = ? AND t.value = ?`, r.DomainID, r.Name, r.Type, r.Value).
		and(`COALESCE(t.priority, -1) = ?`, priority).
		and(`(t.purpose <> '' AND t.system_managed) = ?`, purposeOf(r) != "" && r.SystemManaged)
}

func purposeOf(r *store.DNSRecord) string { return string(dnsdata.PurposeOf(r.Type, r.Value)) }

// replaceSystemManaged hides the system-managed records at a name while a customer's record
// there serves the same purpose.
func (t *tx) replaceSystemManaged(r *store.DNSRecord) error {
	return t.exec(`UPDATE dns_records SET replaced = CASE WHEN EXISTS (
			SELECT 1 FROM dns_records c WHERE c.domain_id = dns_records.domain_id AND c.name = dns_records.name
				AND c.purpose = dns_records.purpose AND NOT c.system_managed) THEN 1 ELSE 0 END
		WHERE system_managed AND purpose <> '' AND domain_id = $1 AND name = $2`, r.DomainID, r.Name)
}
