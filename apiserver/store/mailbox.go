package store

import "time"

// Mailbox is a mailbox of a domain. An address, primary or an alias, belongs to one mailbox.
type Mailbox struct {
	ID, AccountID, DomainID string
	LocalPart               string
	FirstName, LastName     string
	State                   Provisioning
	// QuotaAllowed and QuotaUsed are in bytes.
	QuotaAllowed, QuotaUsed int64
	Aliases                 []MailboxAlias
	CreatedAt, UpdatedAt    time.Time

	// These fields are the domain's. Create sets them; they are never written.
	DomainName, WorkspaceID, WorkspaceName string
}

// Identity implements [Object].
func (m Mailbox) Identity() Identity { return Identity{m.AccountID, "mailbox", m.ID, m.Address()} }

// Address returns the mailbox's primary address.
func (m Mailbox) Address() string { return m.LocalPart + "@" + m.DomainName }

// MailboxAlias is a further address of a mailbox, in a domain of its account.
type MailboxAlias struct {
	// Alias is the complete address in canonical form.
	Alias      string `json:"alias"`
	IsCatchAll bool   `json:"is_catch_all"`
}

// MailboxFilter selects mailboxes; an empty field selects all.
type MailboxFilter struct {
	DomainID, WorkspaceID string
	// IDs selects the mailboxes with these ids, unless it is nil.
	IDs []string
	// Status is the status at the time Now.
	Status string
	Now    time.Time
	// Search is a part of a name or of the address in any case, with its domain in ASCII or
	// Unicode.
	Search string
	Within Within
	// After selects the mailboxes after another in the order, unless it is nil.
	After *Mailbox
}
