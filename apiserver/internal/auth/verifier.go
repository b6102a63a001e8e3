package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
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

// The limits of a token's claims. No authorization can name a longer subject.
const (
	maxSubjectLength = 255 // characters
	maxGroups        = 256
)

// check returns an *InvalidTokenError if the user can't be a caller.
func (u User) check() error {
	invalid := func(format string, args ...any) error {
		return &InvalidTokenError{Reason: "the access token" + fmt.Sprintf(format, args...)}
	}
	switch {
	case u.ID == "":
		return invalid(" names no user: its sub claim is missing or empty")
	case len(u.Groups) > maxGroups:
		return invalid(" names %d groups; at most %d are accepted", len(u.Groups), maxGroups)
	}
	claim := "sub"
	for _, name := range append([]string{u.ID}, u.Groups...) {
		if !isShort(name) {
			return invalid("'s %s claim holds a name of more than %d characters", claim, maxSubjectLength)
		}
		if !isPlain(name) {
			return invalid("'s %s claim holds a control character", claim)
		}
		claim = "groups"
	}
	return nil
}

func isShort(s string) bool { return utf8.RuneCountInString(s) <= maxSubjectLength }

// isPlain reports whether a text can be stored and shown as it is.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// caller returns the user as a caller of no account yet, without an invalid email or name.
func (u User) caller() Caller {
	who := Caller{Subjects: []store.Subject{{Type: vocab.SubjectUser, ID: u.ID}}, ExpiresAt: u.ExpiresAt}
	for _, g := range u.Groups {
		who.Subjects = append(who.Subjects, store.Subject{Type: vocab.SubjectGroup, ID: g})
	}
	if isShort(u.Email) && isPlain(u.Email) {
		who.Email = u.Email
	}
	if isShort(u.Name) && isPlain(u.Name) {
		who.Name = u.Name
	}
	return who
}
