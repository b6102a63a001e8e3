package store

import "time"

// DNSRecord is a record of a domain. Name, type, value and priority together
// are unique in the domain.
type DNSRecord struct {
	// ID is given by the store and never used again.
	ID                  int64
	AccountID, DomainID string
	// Name is relative to the domain; @ is the domain itself.
	Name, Type, Value string
	// TTL is in seconds.
	TTL int64
	// Priority is nil for types that have none.
	Priority             *int64
	SystemManaged        bool
	CreatedAt, UpdatedAt time.Time
}

// DNSRecordFilter selects records; an empty field selects all.
type DNSRecordFilter struct {
	DomainID, Type, Name string
	Within               Within
}

// DNSRecordReader reads DNS records.
type DNSRecordReader interface {
	DNSRecord(accountID string, id int64) (DNSRecord, error)
	DNSRecords(accountID string, f DNSRecordFilter, s Slice) (items []DNSRecord, total int, err error)
}

// DNSRecordWriter writes DNS records.
type DNSRecordWriter interface {
	CreateDNSRecord(r *DNSRecord) error
	// UpdateDNSRecord writes the value, the TTL and the priority. It returns an
	// *ExistsError where the domain has another such record.
	UpdateDNSRecord(r DNSRecord) error
	DeleteDNSRecord(accountID string, id int64) error
}
