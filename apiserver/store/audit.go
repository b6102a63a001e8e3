package store

import "time"

// AuditEntry says who changed what in an account, and when: all that one
// transaction changed there. It holds no values, least of all secret ones, and
// outlives what it tells of.
type AuditEntry struct {
	// ID is given by the store.
	ID        int64
	AccountID string
	// CreatedAt is when the change was made. Like every creation time it ascends
	// strictly within the account, in the order of commits.
	CreatedAt time.Time
	// Operation is the name of what was done.
	Operation string
	Subject   AuditSubject
	// RequestID and RemoteAddress are empty where there was no request, or none
	// over a network.
	RequestID, RemoteAddress string
	Changes                  []AuditChange
}

// AuditSubject is who made a change. Name is what was known of them beyond the
// id, then; ID and Name may be empty.
type AuditSubject struct {
	Type, ID, Name string
}

// AuditChange is what became of one object.
type AuditChange struct {
	Action string `json:"action"`
	// Type and ID name the object; Name is what a person calls it by, such as an
	// address, and is empty where it has none.
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Fields are the names of the fields that an update sets or changes.
	Fields []string `json:"fields,omitempty"`
}

// The actions of an AuditChange.
const (
	AuditCreated = "created"
	AuditUpdated = "updated"
	AuditRevoked = "revoked"
	AuditDeleted = "deleted"
)

// AuditFilter selects entries; an empty field selects all.
type AuditFilter struct {
	AccountID string
	// Since is the earliest time and Until the first that is too late.
	Since, Until time.Time
	Operation    string
	RequestID    string
	// Subject is the id or the name of who made the change.
	Subject string
	// Object is the id or the name of one of the changed objects. Whether the
	// case of ASCII letters matters is up to the engine.
	Object string
	// Limit selects no more than the newest so many of those; 0 selects all.
	Limit int
}

// AuditReader reads the audit log.
type AuditReader interface {
	// EachAuditEntry calls fn for each entry, the newest last, holding few of
	// them in memory. It stops at the first error and returns it.
	EachAuditEntry(f AuditFilter, fn func(AuditEntry) error) error
}

// AuditWriter writes the audit log, which only grows; a Clearer alone empties it.
type AuditWriter interface {
	// AddAuditEntry gives the entry its ID, and its CreatedAt like a Create
	// method does.
	AddAuditEntry(e *AuditEntry) error
}
