package store

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Forwarding is a rule that forwards the mail of a scope to a target. Scope and target are unique
// together.
type Forwarding struct {
	ID, AccountID string
	Scope         Scope
	TargetEmail   string
	// Enabled is the customer's switch. Mail is forwarded if the target is also
	// internal or verified.
	Enabled bool
	// Internal means that the target is an address or an alias of the account.
	Internal bool
	// LinkHash is the SHA-256 of the one-time link's token.
	LinkHash []byte
	// Each of these times is zero until its event. A pending rule without any of them forwarded
	// mail until its target was deleted.
	SentAt, ExpiresAt, VerifiedAt time.Time
	CreatedAt, UpdatedAt          time.Time
}

// Identity implements [Object].
func (f Forwarding) Identity() Identity {
	return Identity{f.AccountID, "forwarding", f.ID, f.TargetEmail}
}

// VerificationState returns the state at a time.
func (f Forwarding) VerificationState(now time.Time) string {
	switch {
	case f.Internal:
		return vocab.VerificationInternal
	case !f.VerifiedAt.IsZero():
		return vocab.VerificationVerified
	case !f.ExpiresAt.IsZero() && !now.Before(f.ExpiresAt):
		return vocab.VerificationExpired
	}
	return vocab.VerificationPending
}

// ForwardingFilter selects rules; an empty field selects all.
type ForwardingFilter struct {
	ScopedFilter
	// VerificationState is the state at the time Now.
	VerificationState string
	Now               time.Time
}
