package store

import (
	"strconv"
	"strings"
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

	// The domain's. They are never written, and the creator sets the name, for the audit log.
	DomainName, WorkspaceID string
}

// Identity implements [Object]. The name is without the value, which may hold a secret.
func (r DNSRecord) Identity() Identity {
	name := strings.TrimPrefix(r.Name+"."+r.DomainName, "@.")
	return Identity{r.AccountID, "dns_record", strconv.FormatInt(r.ID, 10), name + " " + r.Type}
}

// DNSRecordFilter selects records; an empty field selects all.
type DNSRecordFilter struct {
	DomainID, Type, Name string
	Within               Within
	// Special selects only the records that can exclude others at their name: CNAMEs,
	// system-managed ones and those with a purpose.
	Special bool
}
