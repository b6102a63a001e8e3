package store

import "time"

// MasterPassword is a credential for the mailboxes of a scope; the API's paths call
// it credential. Its name is unique in the scope.
type MasterPassword struct {
	ID, AccountID, Name string
	Scope               Scope
	// SecretHash is an argon2id hash in PHC string format.
	SecretHash           string
	CreatedAt, UpdatedAt time.Time
}

// Identity implements [Object].
func (p MasterPassword) Identity() Identity {
	return Identity{p.AccountID, "master_password", p.ID, p.Name}
}

// ScopedFilter selects objects with a scope; an empty field selects all.
type ScopedFilter struct {
	// DomainID and WorkspaceID select the objects of this domain or workspace.
	DomainID, WorkspaceID string
	ScopeType             string
	// Search is a part of a name or a target address, in any case, with its domain in ASCII or
	// Unicode.
	Search string
	Within Within
}
