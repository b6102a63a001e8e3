package store

import (
	"cmp"
	"time"
)

// Authorization is a grant to a subject. CapabilityKey may be empty.
type Authorization struct {
	ID, AccountID          string
	GrantKind              string
	SubjectType, SubjectID string
	CapabilityKey          string
	// ResourceType and ResourceID restrict a capability grant, or are empty.
	ResourceType, ResourceID string
	// CreatedBy is the zero value if unknown.
	CreatedBy AuditSubject
	CreatedAt time.Time
	// RevokedAt is zero until the grant is revoked.
	RevokedAt time.Time
}

// Identity implements [Object]. The name consists of the grant and its subject.
func (a Authorization) Identity() Identity {
	name := cmp.Or(a.CapabilityKey, a.GrantKind)
	if a.ResourceType != "" {
		name += " in " + a.ResourceType + " " + a.ResourceID
	}
	return Identity{a.AccountID, "authorization", a.ID, name + " for " + a.SubjectType + " " + a.SubjectID}
}

// Subject is the holder of a grant.
type Subject struct {
	Type, ID string
}

// AuthorizationFilter selects grants; an empty field selects all.
type AuthorizationFilter struct {
	SubjectType, SubjectID, GrantKind, CapabilityKey string
	IncludeRevoked                                   bool
}
