package store

import (
	"strconv"
	"strings"
	"time"
)

// DNSRecord is a record of a domain. Name, type, value and priority together are unique in the
// domain.
//
// A customer's record with a dnsdata.Purpose replaces the system-managed records with the same
// name and purpose: readers don't see them. It may be identical to a record that it replaces.
type DNSRecord struct {
	// ID is unique in the whole store.
	ID                  int64
	AccountID, DomainID string
	// Name is relative to the domain, @ for the domain itself.
	Name, Type, Value string
	// TTL is in seconds.
	TTL int64
	// Priority is nil for types without a priority.
	Priority             *int64
	SystemManaged        bool
	CreatedAt, UpdatedAt time.Time

	// DomainName and WorkspaceID are the domain's and never written. The creator of a record sets
	// DomainName, for the audit log.
	DomainName, WorkspaceID string
}

// Identity implements [Object]. The name omits the value, which may hold a secret.
func (r DNSRecord) Identity() Identity {
	name := strings.TrimPrefix(r.Name+"."+r.DomainName, "@.")
	return Identity{r.AccountID, "dns_record", strconv.FormatInt(r.ID, 10), name + " " + r.Type}
}

// DNSRecordFilter selects records; an empty field selects all.
type DNSRecordFilter struct {
	DomainID, Type, Name string
	Within               Within
	// Special selects only the records that can exclude others at their name: CNAMEs,
	// system-managed records and records with a purpose.
	Special bool
}
