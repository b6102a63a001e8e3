package api

import "github.com/google/uuid"

// DefaultWorkspaceID returns the id of the workspace that every account comes with. It
// can be computed without a request. accountID must be a UUID.
func DefaultWorkspaceID(accountID string) string { return DerivedID(accountID, "workspace:default") }

// DerivedID returns the UUIDv5 (RFC 9562) of a name within an account. accountID must be
// a UUID.
func DerivedID(accountID, name string) string {
	return uuid.NewSHA1(uuid.MustParse(accountID), []byte(name)).String()
}

// IsID reports whether s is a UUID.
func IsID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil
}

// CanonicalID returns the canonical form of a UUID, and any other text unchanged: RFC
// 9562 allows upper case on input, and ids are compared as strings.
func CanonicalID(s string) string {
	if id, err := uuid.Parse(s); err == nil {
		return id.String()
	}
	return s
}
