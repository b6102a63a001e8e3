package sqlstore

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var dnsRecords = of(kind[store.DNSRecord]{
	table: "dns_records",
	columns: []string{"id", "account_id", "domain_id", "name", "type", "value", "ttl", "priority",
		"system_managed", "created_at", "updated_at"},
	written: []string{"purpose"},
	fields: func(r *store.DNSRecord) []any {
		return []any{&r.ID, &r.AccountID, &r.DomainID, &r.Name, &r.Type, &r.Value, &r.TTL, &r.Priority,
			&r.SystemManaged, micros{&r.CreatedAt}, micros{&r.UpdatedAt}}
	},
})

// DNSRecord implements store.DNSRecordReader.
func (r *reader) DNSRecord(accountID string, id int64) (store.DNSRecord, error) {
	return one(r, dnsRecords, r.where(accountID).and(`t.id = ?`, id).and(`t.replaced = 0`).inPaid(`t.domain_id`))
}

// DNSRecords implements store.DNSRecordReader.
func (r *reader) DNSRecords(
	accountID string, f store.DNSRecordFilter, s store.Slice,
) ([]store.DNSRecord, int, error) {
	w := r.where(accountID).
		equal(`t.domain_id`, f.DomainID).
		equal(`t.type`, f.Type).
		equal(`t.name`, f.Name).
		withinDomains(`t.domain_id`, f.Within).
		inPaid(`t.domain_id`)
	if !f.WithReplaced {
		w.and(`t.replaced = 0`)
	}
	return page(r, dnsRecords, w, s)
}

// sameDNSRecord is the condition that a domain has a record, as $1 to $6. A
// customer's record is never the same as a system-managed one that it replaces.
const sameDNSRecord = `domain_id = $1 AND name = $2 AND type = $3 AND value = $4 AND COALESCE(priority, -1) = $5
	AND CASE WHEN purpose = '' THEN 0 ELSE system_managed END = $6`

func sameDNSRecordArgs(r *store.DNSRecord) []any {
	priority, replaceable := int64(-1), int64(0)
	if r.Priority != nil {
		priority = *r.Priority
	}
	if r.SystemManaged && purposeOf(r) != "" {
		replaceable = 1
	}
	return []any{r.DomainID, r.Name, r.Type, r.Value, priority, replaceable}
}

func purposeOf(r *store.DNSRecord) string { return string(dnsdata.PurposeOf(r.Type, r.Value)) }

// CreateDNSRecord implements store.DNSRecordWriter.
func (t *tx) CreateDNSRecord(r *store.DNSRecord) error {
	at, err := t.stamp(dnsRecords.table, r.AccountID, r.CreatedAt)
	if err != nil {
		return err
	}
	r.CreatedAt, r.UpdatedAt = at, at
	ok, err := insert(t, dnsRecords, r, purposeOf(r))
	if err != nil {
		return err
	}
	if !ok {
		if err := t.existingDNSRecord(sameDNSRecord, sameDNSRecordArgs(r)...); err != nil {
			return err
		}
		return &store.ExistsError{ID: strconv.FormatInt(r.ID, 10)}
	}
	return t.replaceSystemManaged(r)
}

// UpdateDNSRecord implements store.DNSRecordWriter.
func (t *tx) UpdateDNSRecord(r store.DNSRecord) error {
	old, err := t.DNSRecord(r.AccountID, r.ID)
	if err != nil {
		return err
	}
	old.Value, old.Priority = r.Value, r.Priority
	if err := t.existingDNSRecord(sameDNSRecord+` AND id <> $7`, append(sameDNSRecordArgs(&old), r.ID)...); err != nil {
		return err
	}
	if err := t.change(`UPDATE dns_records SET value = $1, purpose = $2, ttl = $3, priority = $4, updated_at = $5
		WHERE account_id = $6 AND id = $7`,
		r.Value, purposeOf(&old), r.TTL, r.Priority, micros{&r.UpdatedAt}, r.AccountID, r.ID); err != nil {
		return err
	}
	return t.replaceSystemManaged(&old)
}

// DeleteDNSRecord implements store.DNSRecordWriter.
func (t *tx) DeleteDNSRecord(accountID string, id int64) error {
	r, err := t.DNSRecord(accountID, id)
	if err != nil {
		return err
	}
	if err := t.change(`DELETE FROM dns_records WHERE account_id = $1 AND id = $2`, accountID, id); err != nil {
		return err
	}
	return t.replaceSystemManaged(&r)
}

// replaceSystemManaged hides the system-managed records at the name of a record
// that was written if the customer has one with their purpose, and shows the others
// again.
func (t *tx) replaceSystemManaged(r *store.DNSRecord) error {
	if _, err := t.exec(replaceSystemManaged+` AND domain_id = $1 AND name = $2`, r.DomainID, r.Name); err != nil {
		return fmt.Errorf("replace system-managed DNS records: %w", err)
	}
	return nil
}

const replaceSystemManaged = `UPDATE dns_records SET replaced = CASE WHEN EXISTS (
		SELECT 1 FROM dns_records c WHERE c.domain_id = dns_records.domain_id AND c.name = dns_records.name
			AND c.purpose = dns_records.purpose AND c.system_managed = 0) THEN 1 ELSE 0 END
	WHERE system_managed = 1 AND purpose <> ''`

// existingDNSRecord returns the *store.ExistsError for the record of a
// condition, and nil where there is none.
func (t *tx) existingDNSRecord(condition string, args ...any) error {
	ids, err := column[int64](&t.reader, `SELECT id FROM dns_records WHERE `+condition, args...)
	if len(ids) == 0 || err != nil {
		return err
	}
	return &store.ExistsError{ID: strconv.FormatInt(ids[0], 10)}
}

// fillDNSPurposes migrates records from before there were purposes.
func fillDNSPurposes(t *tx) error {
	rows, err := t.q.QueryContext(t.ctx, `SELECT id, type, value FROM dns_records WHERE type IN ('TXT', 'MX')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	purposes := map[int64]string{}
	for rows.Next() {
		var r store.DNSRecord
		if err := rows.Scan(&r.ID, &r.Type, &r.Value); err != nil {
			return err
		}
		if purpose := purposeOf(&r); purpose != "" {
			purposes[r.ID] = purpose
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, purpose := range purposes {
		if err := t.change(`UPDATE dns_records SET purpose = $1 WHERE id = $2`, purpose, id); err != nil {
			return err
		}
	}
	_, err = t.exec(replaceSystemManaged)
	return err
}
