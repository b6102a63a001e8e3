// Package identity defines the users of an OAuth issuer who call a service with an access token,
// and the sessions of browsers. Programs that embed a service provide a [TokenVerifier].
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package identity

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// TokenVerifier validates the access tokens of an OAuth 2.0 issuer. It must be safe for concurrent
// use.
type TokenVerifier interface {
	// VerifyToken returns the user of a token. It fails with ErrTokenExpired, an *InvalidTokenError
	// or an *IssuerUnavailableError. Any other error means that the service failed, unless ctx has
	// ended.
	VerifyToken(ctx context.Context, token string) (User, error)
}

// User is the subject of an access token. Grants may name the user or a group.
type User struct {
	// ID and Groups are the issuer's ids, as in the subject_id of an authorization.
	ID     string
	Groups []string
	// Email, which the issuer must have verified, and Name describe the person; empty if the token
	// does not contain them. People may choose their own Name, so show it beside the ID only.
	Email, Name string
	// Details describe the job of a workload for the audit log, such as its run_id and actor.
	Details map[string]string
	// ExpiresAt is when the access token expires; zero means never.
	ExpiresAt time.Time
}

// WorkloadPrefix begins the user id of a workload, such as a job of a CI system. An issuer of people's
// tokens can't issue a token for such a user.
const WorkloadPrefix = "workload:"

var workloadName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckWorkloadName returns an error for an invalid name of a workload.
func CheckWorkloadName(name string) error {
	if !workloadName.MatchString(name) {
		return fmt.Errorf("%.64q is no name of a workload: use up to 63 lower-case letters, digits, dots, hyphens and underscores", name)
	}
	return nil
}

// ErrTokenExpired reports an expired access token.
var ErrTokenExpired = errors.New("the access token has expired")

// InvalidTokenError reports an access token invalid in itself or for this API.
type InvalidTokenError struct {
	// Reason begins with "the access token", is shown to the caller, and contains no part of the
	// token.
	Reason string
}

func (e *InvalidTokenError) Error() string { return e.Reason }

// IssuerUnavailableError reports that the issuer's keys can't be fetched now.
type IssuerUnavailableError struct {
	// RetryAfter is how long to wait before a retry.
	RetryAfter time.Duration
}

func (e *IssuerUnavailableError) Error() string { return "the OAuth issuer can't be reached" }

// Session is a browser's permission to act with a token in one account for some hours. Each request
// is authorized like a request with the token, so that the session ends with the token.
//
// The browser stores the session sealed: encrypted with a key derived from the stored hash of a
// service account's token. Every process on the database can open it, and the API does not accept
// it as a credential. The database alone is not enough to forge a session, because a session
// contains the token. The store contains only a hash of each ended session.
type Session struct {
	// Token is a service account's token, or a user's access token.
	Token, AccountID string
	// ServiceAccountID is empty for a user, and UserID, the issuer's id, for a service account.
	ServiceAccountID, UserID string
	// Name is the service account's name, or the user's name or address in the access token; it may be empty.
	Name      string
	ExpiresAt time.Time
}

// UserAccess lists the accounts that the user of an access token may sign in to.
type UserAccess struct {
	// ID is the issuer's id of the user, as in a grant.
	ID string
	// Accounts are the ids of the accounts that grant the user anything, the oldest first.
	Accounts []string
}
