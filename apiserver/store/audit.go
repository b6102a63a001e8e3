package store

import "time"

// AuditEntry records all changes of one transaction to an account. It holds no values, which may
// be secret, and outlives the account and the objects.
type AuditEntry struct {
	// ID is assigned by the store.
	ID        int64
	AccountID string
	// CreatedAt ascends strictly within the account, in the order of commits, as [Tx].Create
	// describes it for objects.
	CreatedAt time.Time
	// Operation is the id of an API operation or a name of package audit, such as expire-purchase.
	Operation string
	Subject   AuditSubject
	// SubjectDetails describe the job of a workload, such as its run_id and actor.
	SubjectDetails map[string]string
	// RequestID and RemoteAddress are empty without a request or a network.
	RequestID, RemoteAddress string
	Changes                  []AuditChange
}

// AuditSubject identifies who made a change. Name is the name or address at that time. ID and
// Name may be empty.
type AuditSubject struct {
	Type, ID, Name string
}

// AuditChange is a change to one object.
type AuditChange struct {
	Action string `json:"action"`
	// Type and ID identify the object. Name is its name for people, or empty.
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
	// AuditRestored means that a backup replaced the content of the account.
	AuditRestored = "restored"
)

// AuditFilter selects entries; an empty field selects all.
type AuditFilter struct {
	AccountID string
	// Since is inclusive, Until exclusive.
	Since, Until time.Time
	Operation    string
	RequestID    string
	// Subject is a subject's id or name.
	Subject string
	// Object is the id or the name of a changed object, in any case of ASCII letters.
	Object string
	// Limit selects the newest entries among the matching ones; 0 selects all.
	Limit int
}
