package store

import (
	"strconv"
	"time"
)

// DNSRecord is a record of a domain. Name, type, value and priority together are unique in the
// domain.
//
// While a customer has records with a name and a dnsdata.Purpose, readers don't see the
// system-managed ones with the same. A customer's record may be identical to one that it
// replaces.
type DNSRecord struct {
	// ID is unique in the whole store.
	ID                  int64
	AccountID, DomainID string
	// Name is relative to the domain, @ for the domain itself.
	Name, Type, Value string
	// TTL is in seconds.
	TTL int64
	// Priority is nil for types that have none.
	Priority             *int64
	SystemManaged        bool
	CreatedAt, UpdatedAt time.Time
}

// Identity implements [Object]. The name is without the value, which may hold a secret.
func (r DNSRecord) Identity() Identity {
	return Identity{r.AccountID, "dns_record", strconv.FormatInt(r.ID, 10), r.Name + " " + r.Type}
}

// DNSRecordFilter selects records; an empty field selects all.
type DNSRecordFilter struct {
	DomainID, Type, Name string
	Within               Within
	// Special selects only the records that can exclude others at their name: CNAMEs,
	// system-managed ones and those with a purpose.
	Special bool
}

// DNSRecordReader reads DNS records.
type DNSRecordReader interface {
	DNSRecord(accountID string, id int64) (DNSRecord, error)
	DNSRecords(accountID string, f DNSRecordFilter, s Slice) (items []DNSRecord, total int, err error)
}

// DNSRecordWriter writes DNS records.
type DNSRecordWriter interface {
	// CreateDNSRecord returns an *ExistsError with the id of an identical record, or with its
	// own id if that is taken.
	CreateDNSRecord(r *DNSRecord) error
	// UpdateDNSRecord must leave the domain, the name, the type and SystemManaged
	// alone. It returns an *ExistsError if the domain has an identical record.
	UpdateDNSRecord(accountID string, id int64, change func(*DNSRecord) error) (DNSRecord, error)
	DeleteDNSRecord(accountID string, id int64) error
}
