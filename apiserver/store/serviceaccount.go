package store

import "time"

// ServiceAccount is a machine credential. Only a hash of its secret is stored.
type ServiceAccount struct {
	ID, AccountID, Name string
	// PublicID is the part of the token that identifies it. It is unique.
	PublicID string
	// SecretHash is the SHA-256 of the token's secret.
	SecretHash      []byte
	Last4           string
	CreatedByUserID string
	// ExpiresAt, LastUsedAt and RevokedAt are zero if there is none.
	ExpiresAt, LastUsedAt, RevokedAt time.Time
	RevokedByUserID                  string
	CreatedAt, UpdatedAt             time.Time
}

// Identity implements [Object].
func (s ServiceAccount) Identity() Identity {
	return Identity{s.AccountID, "service_account", s.ID, s.Name}
}
