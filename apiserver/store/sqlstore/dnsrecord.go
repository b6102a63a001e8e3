package sqlstore

import (
	"fmt"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var dnsRecords = of(kind[store.DNSRecord]{
	table: "dns_records",
	columns: []string{"id", "account_id", "domain_id", "name", "type", "value", "ttl", "priority",
		"system_managed", "created_at", "updated_at"},
	fields: func(r *store.DNSRecord) []any {
		return []any{&r.ID, &r.AccountID, &r.DomainID, &r.Name, &r.Type, &r.Value, &r.TTL, &r.Priority,
			&r.SystemManaged, micros{&r.CreatedAt}, micros{&r.UpdatedAt}}
	},
})

// DNSRecord implements store.DNSRecordReader.
func (r *reader) DNSRecord(accountID string, id int64) (store.DNSRecord, error) {
	return one(r, dnsRecords, r.where(accountID).and(`t.id = ?`, id))
}

// DNSRecords implements store.DNSRecordReader.
func (r *reader) DNSRecords(
	accountID string, f store.DNSRecordFilter, s store.Slice,
) ([]store.DNSRecord, int, error) {
	w := r.where(accountID).
		equal(`t.domain_id`, f.DomainID).
		equal(`t.type`, f.Type).
		equal(`t.name`, f.Name).
		withinDomains(`t.domain_id`, f.Within)
	return page(r, dnsRecords, w, s)
}

// sameDNSRecord is the condition that a domain has a record, as $1 to $5.
const sameDNSRecord = `domain_id = $1 AND name = $2 AND type = $3 AND value = $4 AND COALESCE(priority, -1) = $5`

func sameDNSRecordArgs(r *store.DNSRecord) []any {
	priority := int64(-1)
	if r.Priority != nil {
		priority = *r.Priority
	}
	return []any{r.DomainID, r.Name, r.Type, r.Value, priority}
}

// CreateDNSRecord implements store.DNSRecordWriter.
func (t *tx) CreateDNSRecord(r *store.DNSRecord) error {
	at, err := t.stamp(dnsRecords.table, r.AccountID, r.CreatedAt)
	if err != nil {
		return err
	}
	r.CreatedAt, r.UpdatedAt = at, at
	ids, err := column[int64](&t.reader, `INSERT INTO dns_records
		(account_id, domain_id, name, type, value, ttl, priority, system_managed, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING id`,
		dnsRecords.fields(r)[1:]...)
	if err != nil {
		return fmt.Errorf("create in dns_records: %w", err)
	}
	if len(ids) == 0 {
		return t.existingDNSRecord(sameDNSRecord, sameDNSRecordArgs(r)...)
	}
	r.ID = ids[0]
	return nil
}

// UpdateDNSRecord implements store.DNSRecordWriter.
func (t *tx) UpdateDNSRecord(r store.DNSRecord) error {
	old, err := t.DNSRecord(r.AccountID, r.ID)
	if err != nil {
		return err
	}
	old.Value, old.Priority = r.Value, r.Priority
	if err := t.existingDNSRecord(sameDNSRecord+` AND id <> $6`, append(sameDNSRecordArgs(&old), r.ID)...); err != nil {
		return err
	}
	return t.change(`UPDATE dns_records SET value = $1, ttl = $2, priority = $3, updated_at = $4
		WHERE account_id = $5 AND id = $6`, r.Value, r.TTL, r.Priority, micros{&r.UpdatedAt}, r.AccountID, r.ID)
}

// DeleteDNSRecord implements store.DNSRecordWriter.
func (t *tx) DeleteDNSRecord(accountID string, id int64) error {
	return t.change(`DELETE FROM dns_records WHERE account_id = $1 AND id = $2`, accountID, id)
}

// existingDNSRecord returns the *store.ExistsError for the record of a
// condition, and nil where there is none.
func (t *tx) existingDNSRecord(condition string, args ...any) error {
	ids, err := column[int64](&t.reader, `SELECT id FROM dns_records WHERE `+condition, args...)
	if len(ids) == 0 || err != nil {
		return err
	}
	return &store.ExistsError{ID: strconv.FormatInt(ids[0], 10)}
}
