// Package auth identifies the callers of requests by their credentials and decides what
// they may do: service account tokens, access tokens of an OAuth issuer, grants and the
// part of an account that a restricted grant covers.
package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Authenticator identifies and authorizes callers. It is safe for concurrent use.
type Authenticator struct {
	store    store.Store
	now      func() time.Time
	verifier TokenVerifier
	lastUses *LastUses
}

// NewAuthenticator returns an Authenticator for the service accounts in s and the access
// tokens that verifier accepts. A nil verifier accepts none.
func NewAuthenticator(s store.Store, now func() time.Time, verifier TokenVerifier, lastUses *LastUses) *Authenticator {
	return &Authenticator{store: s, now: now, verifier: verifier, lastUses: lastUses}
}

// AcceptsAccessTokens reports whether users and groups of an OAuth issuer can be callers.
func (a *Authenticator) AcceptsAccessTokens() bool { return a.verifier != nil }

// Identify returns the caller that a request's Authorization headers name, without any
// grants, or a 401.
func (a *Authenticator) Identify(ctx context.Context, authorization []string) (Caller, error) {
	if who, trusted := Trusted(ctx); trusted {
		return who, nil
	}
	if len(authorization) > 1 {
		return Caller{}, invalidToken(api.TypeInvalidToken, "send one Authorization header; there are several")
	}
	scheme, presented, _ := strings.Cut(strings.Join(authorization, ""), " ")
	presented = strings.TrimSpace(presented)
	if !strings.EqualFold(scheme, "Bearer") || presented == "" {
		return Caller{}, api.NewError(http.StatusUnauthorized, api.TypeNotAuthenticated, "send the header Authorization: Bearer <token>").
			At("header", "Authorization").With("WWW-Authenticate", "Bearer")
	}
	token, ok := parseToken(presented)
	switch {
	case ok:
		return a.serviceAccount(ctx, token)
	case a.verifier != nil && !strings.HasPrefix(presented, api.TokenPrefix+"_"):
		return a.user(ctx, presented)
	}
	return Caller{}, invalidToken(api.TypeInvalidToken, "the bearer token is malformed; was it copied whole?")
}

// serviceAccount returns the caller of a service account's token.
func (a *Authenticator) serviceAccount(ctx context.Context, token Token) (Caller, error) {
	var account store.ServiceAccount
	err := a.store.View(ctx, func(r store.Reader) (err error) {
		account, err = r.ServiceAccountByPublicID(token.PublicID)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Caller{}, err
	}
	// The time that this takes reveals nothing of the secret. It may reveal that the
	// public id exists, which is no secret.
	if subtle.ConstantTimeCompare(account.SecretHash, token.Hash()) != 1 {
		return Caller{}, unknownToken()
	}
	now := a.now()
	if err := CheckServiceAccount(account, now); err != nil {
		return Caller{}, err
	}
	a.lastUses.note(account, now)
	return Caller{
		AccountID: account.AccountID,
		Subjects:  []store.Subject{{Type: vocab.SubjectServiceAccount, ID: account.ID}},
		Name:      account.Name,
	}, nil
}

// user returns the caller of an access token of the OAuth issuer.
func (a *Authenticator) user(ctx context.Context, token string) (Caller, error) {
	user, err := a.verifier.VerifyToken(ctx, token)
	if err == nil {
		err = user.check()
	}
	if err == nil {
		return user.caller(), nil
	}
	if errors.Is(err, ErrTokenExpired) {
		return Caller{}, invalidToken(api.TypeTokenExpired, ErrTokenExpired.Error())
	}
	if invalid, ok := errors.AsType[*InvalidTokenError](err); ok {
		return Caller{}, invalidToken(api.TypeInvalidToken, invalid.Reason)
	}
	if down, ok := errors.AsType[*IssuerUnavailableError](err); ok {
		seconds := math.Ceil(down.RetryAfter.Seconds())
		return Caller{}, api.Unavailable("the OAuth issuer can't be reached to validate the access token; try again").RetryAfter(max(1, int(seconds)))
	}
	if ctx.Err() != nil {
		return Caller{}, api.Cancelled()
	}
	return Caller{}, fmt.Errorf("validating an access token: %w", err)
}

// Authorize returns the caller with the grants and the account status that r holds now,
// or a 401 or 403 if the credential no longer works or lacks the operation's capability.
// It runs before the body is read, and again in the snapshot or transaction of the
// operation: meanwhile the credential may have expired or been revoked, and the grants
// and the account may have changed.
func (a *Authenticator) Authorize(r store.Reader, who Caller, spec api.Spec) (Caller, error) {
	now := a.now()
	if who.IsServiceAccount() {
		account, err := r.ServiceAccount(who.AccountID, who.Subjects[0].ID)
		if errors.Is(err, store.ErrNotFound) {
			err = unknownToken()
		}
		if err == nil {
			err = CheckServiceAccount(account, now)
		}
		if err != nil {
			return Caller{}, err
		}
		who.ExpiresAt = account.ExpiresAt
	} else if expired(who.ExpiresAt, now) {
		return Caller{}, invalidToken(api.TypeTokenExpired, ErrTokenExpired.Error())
	}
	grants, err := r.GrantsOf(who.AccountID, who.Subjects)
	if err != nil {
		return Caller{}, err
	}
	// For users of the OAuth issuer, only the accounts exist that grant them something.
	if len(grants) == 0 && !who.IsServiceAccount() && !who.IsBuiltInOwner() {
		return Caller{}, api.PermissionDenied(spec.Capability)
	}
	who.Grants = distinct(grants)
	account, err := r.Account(who.AccountID)
	if err != nil {
		return Caller{}, fmt.Errorf("account of an accepted credential: %w", err)
	}
	who.cancelled = account.StatusAt(now) == vocab.AccountCancelled
	return who, who.mayUse(spec)
}

// distinct removes the grants that permit the same as another: a user's service account
// inherits each once, even if both the user and a group have it.
func distinct(grants []store.Authorization) []store.Authorization {
	type permission struct{ kind, capability, resourceType, resourceID string }
	seen := map[permission]bool{}
	return slices.DeleteFunc(grants, func(g store.Authorization) bool {
		p := permission{g.GrantKind, g.CapabilityKey, g.ResourceType, g.ResourceID}
		duplicate := seen[p]
		seen[p] = true
		return duplicate
	})
}

// CheckServiceAccount returns a 401 if the service account's token no longer works.
func CheckServiceAccount(a store.ServiceAccount, now time.Time) error {
	switch {
	case !a.RevokedAt.IsZero():
		return invalidToken(api.TypeTokenRevoked, "the token was revoked")
	case expired(a.ExpiresAt, now):
		return invalidToken(api.TypeTokenExpired, "the token has expired")
	}
	return nil
}

// expired reports whether a credential's expiry, zero for none, has passed.
func expired(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func unknownToken() error {
	return invalidToken(api.TypeInvalidToken, "no service account has this token")
}

// invalidToken returns the 401 for a token. Characters that RFC 6750, section 3, does
// not allow in an error_description are left out of it.
func invalidToken(typ, msg string) *api.Error {
	description := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return -1
		}
		return c
	}, msg)
	return api.NewError(http.StatusUnauthorized, typ, "%s", msg).At("header", "Authorization").
		With("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+description+`"`)
}
