// Package identity is who calls a service with an access token, as an OAuth issuer names them, and
// the sessions of browsers. Programs that embed a service give it a [TokenVerifier].
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package identity

import (
	"context"
	"errors"
	"time"
)

// TokenVerifier validates the access tokens of an OAuth 2.0 issuer. It must be
// safe for concurrent use.
type TokenVerifier interface {
	// VerifyToken returns the user of a token. It fails with ErrTokenExpired, an
	// *InvalidTokenError or an *IssuerUnavailableError; any other error is the service's fault,
	// unless ctx has ended.
	VerifyToken(ctx context.Context, token string) (User, error)
}

// User is whom an access token was issued for, and may have grants, as may the groups.
type User struct {
	// ID and Groups are the issuer's names, as in the subject_id of an authorization.
	ID     string
	Groups []string
	// Email and Name are those of the person; empty if the token does not contain them.
	Email, Name string
	// ExpiresAt is when the access token expires; zero: never.
	ExpiresAt time.Time
}

// ErrTokenExpired reports an access token that was valid once.
var ErrTokenExpired = errors.New("the access token has expired")

// InvalidTokenError reports an access token that is not valid, or not for this API.
type InvalidTokenError struct {
	// Reason begins with "the access token", is shown to the caller, and has nothing of the
	// token.
	Reason string
}

func (e *InvalidTokenError) Error() string { return e.Reason }

// IssuerUnavailableError reports that the issuer's keys can't be read now.
type IssuerUnavailableError struct {
	// RetryAfter is how long to wait before a retry.
	RetryAfter time.Duration
}

func (e *IssuerUnavailableError) Error() string { return "the OAuth issuer can't be reached" }

// Session is a browser's permission to act with a token in one account for some hours.
// Every request of it is authorized like one with the token, so that a session ends with
// the token.
//
// The browser keeps the session sealed: encrypted with a key that follows from the stored
// hash of a service account's token. Every process on the database can open it, and the API
// does not accept it as a credential. Nobody can forge one with the database alone, because
// it contains the token. The store knows only the sessions that were ended, by a hash.
type Session struct {
	// Token is a service account's token, or a user's access token.
	Token, AccountID string
	// ServiceAccountID is empty for a user.
	ServiceAccountID string
	// Name is the service account's name, or what the access token says of the user.
	Name      string
	ExpiresAt time.Time
}

// UserAccess is where the user of an access token may sign in.
type UserAccess struct {
	// ID is the issuer's name of the user, as in a grant.
	ID string
	// Accounts are the ids of the accounts that grant the user something, the oldest first.
	Accounts []string
}
