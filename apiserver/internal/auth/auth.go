// Package auth identifies the callers of requests and decides what they may do: service account
// tokens, access tokens of an OAuth issuer, in-process callers, and grants.
//
// The path of a request, in order:
//
//	function      when                                          refuses   permits by
//	Identify      once; the rate limit also counts by it        401       a cache entry of any version
//	Caller.In     the account of the path is known              403
//	Preauthorize  before the body is read                       401, 403  a cache entry of any version
//	AuthorizeNow  only if the request is invalid, before a 422  401, 403  the grants of a snapshot
//	Authorize     in the operation's snapshot or transaction    401, 403  the grants of that snapshot
//	MayChange     before it changes anything, after a replay    403       the account's status in it
//
// Package httpapi calls the first four, package account the others. Between them is the cache: a
// caller's credential, account and grants at one store.Reader.AuthorizationVersion. An entry of the
// version of a snapshot is the content of that snapshot (cache.lookup).
//
// A revocation takes effect at once. A trigger of the schema gives each change of an account, a
// service account or a grant a new version, in the same transaction, and its response follows the
// commit. A request that begins after that response reads the new version in its operation, in every
// process on the database, so no older entry counts there. Before that an outdated entry only lets it
// get so far: Identify and Preauthorize don't read the version, which would cost a snapshot. They
// refuse nobody by an outdated entry. The passing of time, such as an expiry, is evaluated every time.
//
// Sessions of the console (session.go) hold such a credential in a cookie. LastUses (lastuse.go) notes
// which tokens Authorize has accepted.
package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Authenticator identifies and authorizes callers. It is safe for concurrent use.
type Authenticator struct {
	// LastUses are those of the service accounts that are callers.
	LastUses *LastUses
	store    store.Store
	now      func() time.Time
	verifier identity.TokenVerifier
	cache    cache
}

// NewAuthenticator returns an Authenticator for the service accounts in s and the access tokens
// that verifier accepts; nil accepts none.
func NewAuthenticator(s store.Store, now func() time.Time, verifier identity.TokenVerifier, log *slog.Logger) *Authenticator {
	return &Authenticator{LastUses: newLastUses(s, log), store: s, now: now, verifier: verifier}
}

// AcceptsAccessTokens reports whether users and groups of an OAuth issuer can be callers.
func (a *Authenticator) AcceptsAccessTokens() bool { return a.verifier != nil }

// Identify returns the caller that the Authorization headers name, or a 401. A user is in no account
// yet. It may accept a token that was revoked after it was cached.
func (a *Authenticator) Identify(ctx context.Context, authorization []string) (Caller, error) {
	if len(authorization) > 1 {
		return Caller{}, invalidToken(api.TypeInvalidToken, "send one Authorization header; there are several")
	}
	scheme, presented, _ := strings.Cut(strings.Join(authorization, ""), " ")
	if presented = strings.TrimSpace(presented); presented == "" || !strings.EqualFold(scheme, "Bearer") {
		return Caller{}, api.NewError(http.StatusUnauthorized, api.TypeNotAuthenticated, "send the header Authorization: Bearer <token>").
			At("header", "Authorization").With("WWW-Authenticate", "Bearer")
	}
	token, ok := parseToken(presented)
	switch {
	case ok:
		return a.Preauthorize(ctx, token.caller(), noOperation)
	case a.verifier != nil && !strings.HasPrefix(presented, api.TokenPrefix+"_"):
		return a.user(ctx, presented)
	}
	return Caller{}, invalidToken(api.TypeInvalidToken, "the bearer token is malformed; was it copied whole?")
}

// user returns the caller of an access token of the OAuth issuer.
func (a *Authenticator) user(ctx context.Context, token string) (Caller, error) {
	if a.verifier == nil {
		return Caller{}, invalidToken(api.TypeInvalidToken, "no access tokens are accepted here")
	}
	user, err := a.verifier.VerifyToken(ctx, token)
	if err == nil {
		err = check(user)
	}
	if err == nil {
		return callerOf(user), nil
	}
	if errors.Is(err, identity.ErrTokenExpired) {
		return Caller{}, invalidToken(api.TypeTokenExpired, identity.ErrTokenExpired.Error())
	}
	if invalid, ok := errors.AsType[*identity.InvalidTokenError](err); ok {
		return Caller{}, invalidToken(api.TypeInvalidToken, invalid.Reason)
	}
	if down, ok := errors.AsType[*identity.IssuerUnavailableError](err); ok {
		seconds := math.Ceil(down.RetryAfter.Seconds())
		return Caller{}, api.Unavailable("the OAuth issuer can't be reached to validate the access token; try again").RetryAfter(max(1, int(seconds)))
	}
	return Caller{}, fmt.Errorf("validating an access token: %w", err)
}

// Preauthorize authorizes a caller before there is a snapshot, so that no more of a request is read
// if the caller may not send it. An outdated cache entry is enough, but a refusal is by a snapshot:
// since then the caller may have got a grant, and a cancelled account may be active again.
func (a *Authenticator) Preauthorize(ctx context.Context, who Caller, spec api.Spec) (Caller, error) {
	if e, ok := a.cache.get(who.key()); ok {
		if cached, err := e.authorize(who, spec, a.now()); err == nil && cached.MayChange(spec) == nil {
			return cached, nil
		}
	}
	return a.AuthorizeNow(ctx, who, spec)
}

// AuthorizeNow is Authorize in a snapshot of its own.
func (a *Authenticator) AuthorizeNow(ctx context.Context, who Caller, spec api.Spec) (Caller, error) {
	return store.Read(ctx, a.store, func(r store.Reader) (Caller, error) { return a.Authorize(r, who, spec) })
}

// Authorize returns the caller with the grants of r, the snapshot or transaction of an operation, or
// a 401 or 403.
func (a *Authenticator) Authorize(r store.Reader, who Caller, spec api.Spec) (Caller, error) {
	e, err := a.cache.lookup(r, who)
	if err != nil {
		return Caller{}, err
	}
	now := a.now()
	who, err = e.authorize(who, spec, now)
	if who.IsServiceAccount() { // the token works, even if it lacks the capability
		a.LastUses.note(e.serviceAccount, now)
	}
	return who, err
}

// noOperation requires a working credential only, and of a user any grant.
var noOperation = api.Spec{Method: http.MethodGet}

// authorize returns the caller with the grants of the entry, a 401 if the credential does not work,
// or a 403 with the caller. Its duration reveals nothing of a token's secret. It may reveal that the
// public id exists, which is no secret.
func (e entry) authorize(who Caller, spec api.Spec, now time.Time) (Caller, error) {
	if who.IsServiceAccount() {
		if subtle.ConstantTimeCompare(e.serviceAccount.SecretHash, who.secretHash) != 1 {
			return Caller{}, unknownToken()
		}
		if err := CheckServiceAccount(e.serviceAccount, now); err != nil {
			return Caller{}, err
		}
		who = who.as(e.serviceAccount)
	} else if expired(who.ExpiresAt, now) {
		return Caller{}, invalidToken(api.TypeTokenExpired, identity.ErrTokenExpired.Error())
	}
	if who.Grants = e.grants; who.operator {
		who.Grants = who.operatorGrants()
	}
	who.cancelled = e.account.StatusAt(now) == vocab.AccountCancelled
	return who, who.mayUse(spec)
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

// invalidToken returns the 401 for a token. An error_description has the characters of RFC 6750,
// section 3, only.
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
