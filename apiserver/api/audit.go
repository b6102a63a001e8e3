package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// AuditEntry records a change in the account and its author, without values. It remains after the
// deletion of the objects.
type AuditEntry struct {
	ID        int64        `json:"id"`
	CreatedAt string       `json:"created_at" format:"date-time" doc:"When the request arrived; unique and ascending in the account, unless the clock of a server was wrong"`
	Operation string       `json:"operation" doc:"Id of the operation, or the name of one outside the API, such as load-fixture"`
	Subject   AuditSubject `json:"subject"`
	// SubjectDetails are null unless the subject is a workload.
	SubjectDetails map[string]string `json:"subject_details" nullable:"true" doc:"What the token of a workload says of its job, such as run_id, actor and sha; null for other subjects"`
	RequestID      *string           `json:"request_id" doc:"X-Request-Id of the request"`
	RemoteAddress  *string           `json:"remote_address" doc:"Null if the request did not come over a network"`
	Changes        []AuditChange     `json:"changes" nullable:"false"`
	MoreChanges    int               `json:"more_changes" minimum:"0" doc:"How many more changes the entry has than max_changes"`
}

// AuditSubject is the author of a change.
type AuditSubject struct {
	Type string  `json:"type" enum:"service_account,user,recipient,operator,system,control_plane"`
	ID   *string `json:"id"`
	Name *string `json:"name" doc:"Name or e-mail address at that time"`
}

// AuditChange is a change to one object.
type AuditChange struct {
	Action string   `json:"action" doc:"created, updated, revoked, deleted or restored"`
	Type   string   `json:"type" doc:"Kind of object, such as mailbox"`
	ID     string   `json:"id"`
	Name   *string  `json:"name" doc:"Name for people, such as an address"`
	Fields []string `json:"fields" nullable:"false" doc:"Names of the fields that an update sets"`
}

// ListAuditLogRequest is the request for the newest matching entries.
type ListAuditLogRequest struct {
	InAccount
	Since     string `query:"since" format:"date-time" doc:"Entries at this time or later"`
	Until     string `query:"until" format:"date-time" doc:"Entries before this time; the created_at of the last one continues a list"`
	Operation string `query:"operation"`
	Subject   string `query:"subject" doc:"Id or name of who made the change"`
	Object    string `query:"object" doc:"Id or name of a changed object"`
	RequestID string `query:"request_id"`
	Limit     int    `query:"limit" default:"25" minimum:"1" maximum:"100" doc:"Maximum number of entries"`
	// MaxChanges limits the size of a page: an entry for a fixture may contain 100,000 changes.
	MaxChanges int `query:"max_changes" minimum:"1" doc:"Maximum number of changes of each entry; all without it"`
}

var auditLog = Kind{Tag: "Audit log", Description: "Who has changed what"}

// ListAuditLog lists the account's changes.
var ListAuditLog = define[ListAuditLogRequest, []AuditEntry]("GET /audit-log", "List the account's changes, the newest first", Spec{
	ID: "list-audit-log", Kind: auditLog, Capability: vocab.CapAuditLogView,
})
