package store

import (
	"cmp"
	"time"
)

// Authorization is a grant to a subject. CapabilityKey, ResourceType and ResourceID may be
// empty.
type Authorization struct {
	ID, AccountID          string
	GrantKind              string
	SubjectType, SubjectID string
	CapabilityKey          string
	// ResourceType and ResourceID restrict a capability grant.
	ResourceType, ResourceID string
	CreatedAt                time.Time
	// RevokedAt is zero until the grant is revoked.
	RevokedAt time.Time
}

// Identity implements [Object]. It names what is granted and its subject.
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

// AuthorizationReader reads grants.
type AuthorizationReader interface {
	Authorization(accountID, id string) (Authorization, error)
	Authorizations(accountID string, f AuthorizationFilter) ([]Authorization, error)
	// GrantsOf returns the grants of any of the subjects that are not revoked.
	GrantsOf(accountID string, subjects []Subject) ([]Authorization, error)
	// AuthorizationVersion returns a number that identifies the state of all accounts, grants
	// and service accounts, apart from their last uses. No other state has it, not even one that
	// was rolled back.
	AuthorizationVersion() (int64, error)
}

// AuthorizationWriter writes grants.
type AuthorizationWriter interface {
	CreateAuthorization(a *Authorization) error
	UpdateAuthorization(accountID, id string, change func(*Authorization) error) (Authorization, error)
}
