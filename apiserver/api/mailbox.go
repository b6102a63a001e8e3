package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Mailbox is one mailbox of a domain.
type Mailbox struct {
	ID            string         `json:"id" format:"uuid"`
	DomainID      string         `json:"domain_id" format:"uuid" doc:"UUID of the domain"`
	DomainName    string         `json:"domain_name" doc:"Name of the domain, in ASCII"`
	LocalPart     string         `json:"local_part" minLength:"1" maxLength:"64" doc:"Part of the address before the @, in lower case"`
	PrimaryEmail  string         `json:"primary_email" doc:"Address of the mailbox"`
	FirstName     string         `json:"first_name" minLength:"1" maxLength:"100" doc:"First name of the person"`
	LastName      string         `json:"last_name" minLength:"1" maxLength:"100" doc:"Last name of the person"`
	Status        string         `json:"status" enum:"provisioning,active,paused,deleting" doc:"State of the mailbox"`
	Quota         Quota          `json:"quota" doc:"Storage of the mailbox"`
	Aliases       []MailboxAlias `json:"aliases" nullable:"false" doc:"Further addresses of the mailbox"`
	WorkspaceID   *string        `json:"workspace_id" format:"uuid" doc:"UUID of the domain's workspace"`
	WorkspaceName *string        `json:"workspace_name" doc:"Name of the domain's workspace"`
	CreatedAt     string         `json:"created_at" format:"date-time"`
	UpdatedAt     string         `json:"updated_at" format:"date-time"`
}

// Quota is a mailbox's storage, in bytes.
type Quota struct {
	Allowed int64 `json:"allowed" minimum:"0" doc:"Maximum size in bytes"`
	Used    int64 `json:"used" minimum:"0" doc:"Used size in bytes"`
}

// MailboxAlias is a further address of a mailbox.
type MailboxAlias struct {
	Alias      string `json:"alias" doc:"The address"`
	IsCatchAll bool   `json:"is_catch_all" default:"false" doc:"Whether it receives all mail of the domain that no mailbox receives"`
}

type CreateMailboxBody struct {
	Domain    string `json:"domain" minLength:"1" doc:"Domain UUID or domain name"`
	FirstName string `json:"first_name" minLength:"1" maxLength:"100" format:"name"`
	LastName  string `json:"last_name" minLength:"1" maxLength:"100" format:"name"`
	LocalPart string `json:"local_part" minLength:"1" maxLength:"64" doc:"Dot-atom of RFC 5321, stored in lower case, unique in its domain"`
}

type CreateMailboxRequest = KeyedRequest[CreateMailboxBody]

// MaxBulkItems is the largest number of items in a bulk request.
const MaxBulkItems = 1000

type CreateMailboxesBody struct {
	Domain string           `json:"domain" minLength:"1" doc:"Domain UUID or domain name"`
	Items  []NewMailboxItem `json:"items" nullable:"false" minItems:"1" maxItems:"1000"`
}

type CreateMailboxesRequest = KeyedRequest[CreateMailboxesBody]

// NewMailboxItem is one mailbox of a bulk request. An invalid item does not stop the others.
type NewMailboxItem struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	LocalPart string `json:"local_part"`
}

// CreatedMailboxes reports each item of a bulk request in exactly one of its two arrays.
type CreatedMailboxes struct {
	Created []CreatedMailboxItem `json:"created" nullable:"false"`
	Failed  []FailedMailboxItem  `json:"failed" nullable:"false"`
}

// CreatedMailboxItem is a created item.
type CreatedMailboxItem struct {
	Index   int     `json:"index" minimum:"0" doc:"Zero-based place in the request's items"`
	Mailbox Mailbox `json:"mailbox"`
}

// FailedMailboxItem is an item that was not created.
type FailedMailboxItem struct {
	Code    string `json:"code" enum:"already_exists,invalid_local_part,invalid_name,duplicate_in_request,quota_exceeded"`
	Index   int    `json:"index" minimum:"0" doc:"Zero-based place in the request's items"`
	Message string `json:"message"`
}

// The codes of a failed bulk item.
const (
	BulkAlreadyExists      = "already_exists"
	BulkInvalidLocalPart   = "invalid_local_part"
	BulkInvalidName        = "invalid_name"
	BulkDuplicateInRequest = "duplicate_in_request"
	BulkQuotaExceeded      = "quota_exceeded"
)

type ListMailboxesRequest struct {
	InAccount
	Paged
	Domain      string `query:"domain" doc:"Only those of this domain, by name or UUID"`
	WorkspaceID string `query:"workspace_id" format:"uuid" doc:"Only those of the workspace with this UUID"`
	Status      string `query:"status" enum:"provisioning,active,paused,deleting" doc:"Only those in this state"`
	Search      string `query:"search" doc:"Only those with this text in their address or the person's name, in upper or lower case, and an internationalized domain in either form"`
}

// UpdateMailboxRequest is the request for new names; null or an absent member changes nothing.
type UpdateMailboxRequest struct {
	InAccount
	Mailbox string `path:"mailbox" doc:"Mailbox UUID or primary address"`
	Body    UpdateMailboxBody
}

type UpdateMailboxBody struct {
	FirstName *string `json:"first_name,omitempty" minLength:"1" maxLength:"100" format:"name" nullable:"true"`
	LastName  *string `json:"last_name,omitempty" minLength:"1" maxLength:"100" format:"name" nullable:"true"`
}

type ExportMailboxesRequest struct {
	InAccount
	Body ExportMailboxesBody
}

type ExportMailboxesBody struct {
	Domain    *string  `json:"domain,omitempty" nullable:"true" doc:"Domain UUID or name: its mailboxes only"`
	Mailboxes []string `json:"mailboxes,omitzero" nullable:"true" doc:"Mailbox UUIDs or addresses: those only, none of an empty list"`
}

// ExportColumns are the columns of an export, as in its first line.
var ExportColumns = []string{
	"id", "primary_email", "first_name", "last_name", "domain_name", "status",
	"quota_allowed", "quota_used", "workspace_name", "created_at",
}

type MailboxRequest struct {
	InAccount
	Mailbox string `path:"mailbox" doc:"Mailbox UUID or primary address"`
}

var mailboxes = Kind{Tag: "Mailboxes", Noun: "mailbox", Description: "Mailboxes, one by one, in bulk and as CSV"}

// Operations on mailboxes.
var (
	CreateMailbox = defineCreate[CreateMailboxBody, Mailbox]("POST /mailboxes", "Create a mailbox", Spec{
		Number: 9, ID: "create-mailbox", Kind: mailboxes, Capability: vocab.CapMailboxCreate, Narrowable: true,
	})
	ListMailboxes = define[ListMailboxesRequest, Page[Mailbox]]("GET /mailboxes", "List mailboxes", Spec{
		Number: 10, ID: "list-mailboxes", Kind: mailboxes, Capability: vocab.CapMailboxView, Narrowable: true,
	})
	UpdateMailbox = define[UpdateMailboxRequest, Mailbox]("PATCH /mailboxes/{mailbox}", "Change a mailbox's names", Spec{
		Number: 11, ID: "update-mailbox", Kind: mailboxes, Capability: vocab.CapMailboxUpdate, Narrowable: true,
	})
	CreateMailboxes = define[CreateMailboxesRequest, CreatedMailboxes]("POST /mailboxes/bulk", "Create many mailboxes, each reported on its own", Spec{
		Number: 12, ID: "create-mailboxes", Kind: mailboxes, Capability: vocab.CapMailboxCreate, Narrowable: true,
	})
	ExportMailboxes = define[ExportMailboxesRequest, CSV]("POST /mailboxes/export", "Export mailboxes as CSV (RFC 4180)", Spec{
		Number: 13, ID: "export-mailboxes", Kind: mailboxes, Capability: vocab.CapMailboxExport, Narrowable: true,
	})
	GetMailbox = define[MailboxRequest, Mailbox]("GET /mailboxes/{mailbox}", "Read a mailbox", Spec{
		ID: "get-mailbox", Kind: mailboxes, Capability: vocab.CapMailboxView, Narrowable: true,
	})
	DeleteMailbox = defineEmpty[MailboxRequest]("DELETE /mailboxes/{mailbox}", "Delete a mailbox", Spec{
		ID: "delete-mailbox", Kind: mailboxes, Capability: vocab.CapMailboxDelete, Narrowable: true,
	})
)
