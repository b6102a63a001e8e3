package store

import "time"

// Mailbox is a mailbox of a domain. Its local part is unique in the domain.
type Mailbox struct {
	ID, AccountID, DomainID string
	LocalPart               string
	FirstName, LastName     string
	State                   Provisioning
	// QuotaAllowed and QuotaUsed are in bytes.
	QuotaAllowed, QuotaUsed int64
	Aliases                 []MailboxAlias
	CreatedAt, UpdatedAt    time.Time

	// DomainName, WorkspaceID and WorkspaceName are the domain's; they are read
	// and never written. CreateMailbox sets them too.
	DomainName, WorkspaceID, WorkspaceName string
}

// Address returns the mailbox's primary address.
func (m Mailbox) Address() string { return m.LocalPart + "@" + m.DomainName }

// MailboxAlias is a further address of a mailbox.
type MailboxAlias struct {
	Alias      string `json:"alias"`
	IsCatchAll bool   `json:"is_catch_all"`
}

// MailboxFilter selects mailboxes; an empty field selects all.
type MailboxFilter struct {
	DomainID, WorkspaceID string
	// IDs selects those only, where it is not nil.
	IDs []string
	// Status is as of Now.
	Status string
	Now    time.Time
	// Search is a case-insensitive part of the address, its domain in ASCII or as
	// people write it, or of a name.
	Search string
	Within Within
	// After selects those that come after a position in the order.
	After Position
}

// Position is a place in the order of a list; the zero value is its begin.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// Position returns the mailbox's place in the order.
func (m Mailbox) Position() Position { return Position{m.CreatedAt, m.ID} }

// MailboxReader reads mailboxes.
type MailboxReader interface {
	Mailbox(accountID, id string) (Mailbox, error)
	// MailboxByAddress takes the canonical forms of the two parts.
	MailboxByAddress(accountID, localPart, domainName string) (Mailbox, error)
	Mailboxes(accountID string, f MailboxFilter, s Slice) (items []Mailbox, total int, err error)
	// EachMailbox calls fn for each mailbox, in order, in constant memory. It
	// stops at the first error and returns it.
	EachMailbox(accountID string, f MailboxFilter, fn func(Mailbox) error) error
}

// MailboxWriter writes mailboxes.
type MailboxWriter interface {
	// CreateMailbox returns ErrNotFound where the account has no such domain.
	CreateMailbox(m *Mailbox) error
	RenameMailbox(accountID, id, firstName, lastName string, at time.Time) error
	DeleteMailbox(accountID, id string) error
}
