package store

import "time"

// ServiceAccount is a machine credential. Only a hash of its secret is stored.
type ServiceAccount struct {
	ID, AccountID, Name string
	// PublicID is the unique part of the token that identifies the service account.
	PublicID string
	// SecretHash is the SHA-256 of the token's secret.
	SecretHash      []byte
	Last4           string
	CreatedByUserID string
	// CreatedBy is the zero value if unknown.
	CreatedBy AuditSubject
	// Each of these times is zero if the event did not happen or is not planned.
	ExpiresAt, LastUsedAt, RevokedAt time.Time
	RevokedByUserID                  string
	CreatedAt, UpdatedAt             time.Time
}

// Identity implements [Object].
func (s ServiceAccount) Identity() Identity {
	return Identity{s.AccountID, "service_account", s.ID, s.Name}
}
