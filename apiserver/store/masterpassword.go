package store

import "time"

// MasterPassword is a credential with a scope. Its name is unique within it.
type MasterPassword struct {
	ID, AccountID, Name string
	Scope               Scope
	// SecretHash is an argon2id hash in PHC string format.
	SecretHash           string
	CreatedAt, UpdatedAt time.Time
}

// ScopedFilter selects objects that have a scope; an empty field selects all.
type ScopedFilter struct {
	// DomainID and WorkspaceID select the objects whose scope is just that.
	DomainID, WorkspaceID string
	ScopeType             string
	// Search is a case-insensitive part of the display fields; of a target's
	// domain in ASCII or as people write it.
	Search string
	Within Within
}

// MasterPasswordReader reads master passwords.
type MasterPasswordReader interface {
	MasterPassword(accountID, id string) (MasterPassword, error)
	MasterPasswords(accountID string, f ScopedFilter, s Slice) (items []MasterPassword, total int, err error)
}

// MasterPasswordWriter writes master passwords.
type MasterPasswordWriter interface {
	CreateMasterPassword(p *MasterPassword) error
	// UpdateMasterPassword must leave the scope alone. It returns an *ExistsError if
	// the scope has another one of that name.
	UpdateMasterPassword(accountID, id string, change func(*MasterPassword) error) (MasterPassword, error)
	DeleteMasterPassword(accountID, id string) error
}
