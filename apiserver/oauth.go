package apiserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TokenVerifier validates the access tokens of an OAuth 2.0 issuer. It must be
// safe for concurrent use.
type TokenVerifier interface {
	// VerifyToken returns the user whom a token was issued for. It fails with
	// ErrTokenExpired, an *InvalidTokenError or an *IssuerUnavailableError; any
	// other error is a fault of the service, unless ctx has ended.
	VerifyToken(ctx context.Context, token string) (User, error)
}

// User is whom an access token was issued for. What they may do in an account is
// what its authorizations grant to the user and to the groups.
type User struct {
	// ID is how the issuer names the user, and Groups are the user's groups: the
	// subject_id of an authorization.
	ID     string
	Groups []string
	// Email and Name are those of the person; empty where the token does not tell.
	Email, Name string
	// ExpiresAt is when the access token expires; zero: never.
	ExpiresAt time.Time
}

// ErrTokenExpired says that an access token was valid once.
var ErrTokenExpired = errors.New("the access token has expired")

// InvalidTokenError says that an access token is not valid, or not for this API.
type InvalidTokenError struct {
	// Reason is for the caller, and holds nothing of the token. It begins like
	// "the access token".
	Reason string
}

func (e *InvalidTokenError) Error() string { return e.Reason }

// IssuerUnavailableError says that a token can't be judged now because the
// issuer does not tell its keys.
type IssuerUnavailableError struct {
	// RetryAfter is when another try makes sense.
	RetryAfter time.Duration
}

func (e *IssuerUnavailableError) Error() string { return "the OAuth issuer can't be reached" }

// The bounds of what a token says of its user. No authorization can name a
// longer subject.
const (
	maxSubjectLength = 255 // characters
	maxGroups        = 256
)

// check returns why a user can't be a caller.
func (u User) check() error {
	if u.ID == "" {
		return &InvalidTokenError{Reason: "the access token names no user: its sub claim is missing or empty"}
	}
	if err := checkSubject("sub claim", u.ID); err != nil {
		return err
	}
	if len(u.Groups) > maxGroups {
		return &InvalidTokenError{Reason: fmt.Sprintf("the access token names %d groups; at most %d are accepted", len(u.Groups), maxGroups)}
	}
	for _, g := range u.Groups {
		if err := checkSubject("groups claim", g); err != nil {
			return err
		}
	}
	return nil
}

func checkSubject(claim, name string) error {
	if !isShort(name) {
		return &InvalidTokenError{Reason: fmt.Sprintf("the access token's %s holds a name of more than %d characters", claim, maxSubjectLength)}
	}
	if !isPlain(name) {
		return &InvalidTokenError{Reason: fmt.Sprintf("the access token's %s holds a control character", claim)}
	}
	return nil
}

func isShort(s string) bool { return utf8.RuneCountInString(s) <= maxSubjectLength }

// isPlain reports whether a text can be stored and shown as it is.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// caller returns the user as a caller of no account yet. An email or a name that
// is none is left out: nothing depends on it.
func (u User) caller() caller {
	who := caller{subjects: []store.Subject{{Type: vocab.SubjectUser, ID: u.ID}}, expiresAt: u.ExpiresAt}
	for _, g := range u.Groups {
		who.subjects = append(who.subjects, store.Subject{Type: vocab.SubjectGroup, ID: g})
	}
	if isShort(u.Email) && isPlain(u.Email) {
		who.email = u.Email
	}
	if isShort(u.Name) && isPlain(u.Name) {
		who.name = u.Name
	}
	return who
}

// in returns a user of the issuer as a caller of an account. The API names users
// by UUID; the issuer need not.
func (c caller) in(accountID string) caller {
	c.accountID = accountID
	if c.userID = canonicalID(c.subjects[0].ID); !isID(c.userID) {
		c.userID = api.DerivedID(accountID, "oauth-user:"+c.subjects[0].ID)
	}
	return c
}

// distinct leaves out the grants that say the same as another: a user's service
// account inherits each once, whoever of the user and the groups has it.
func distinct(grants []store.Authorization) []store.Authorization {
	type said struct{ kind, capability, resourceType, resourceID string }
	seen := map[said]bool{}
	return slices.DeleteFunc(grants, func(g store.Authorization) bool {
		this := said{g.GrantKind, g.CapabilityKey, g.ResourceType, g.ResourceID}
		again := seen[this]
		seen[this] = true
		return again
	})
}

// callerOfAccessToken returns the caller of a token that is no service
// account's.
func (s *Service) callerOfAccessToken(ctx context.Context, token string) (caller, error) {
	user, err := s.tokens.VerifyToken(ctx, token)
	if err == nil {
		err = user.check()
	}
	if err == nil {
		return user.caller(), nil
	}
	if errors.Is(err, ErrTokenExpired) {
		return caller{}, invalidToken(api.TypeTokenExpired, ErrTokenExpired.Error())
	}
	if invalid, ok := errors.AsType[*InvalidTokenError](err); ok {
		return caller{}, invalidToken(api.TypeInvalidToken, invalid.Reason)
	}
	if down, ok := errors.AsType[*IssuerUnavailableError](err); ok {
		seconds := math.Ceil(down.RetryAfter.Seconds())
		return caller{}, unavailable("the OAuth issuer can't be reached to validate the access token; try again").RetryAfter(max(1, int(seconds)))
	}
	if ctx.Err() != nil {
		return caller{}, unavailable("the request was cancelled before it was done")
	}
	return caller{}, fmt.Errorf("validating an access token: %w", err)
}
