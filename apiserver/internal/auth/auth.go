// Package auth identifies and authorizes the callers of requests. A caller uses a service account's
// token or an access token of an OAuth issuer, or calls in process. Grants permit operations.
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
// Package httpapi calls the first four functions, package account the other two. A cache between
// them holds a caller's credential, account and grants at one store.Reader.AuthorizationVersion. An
// entry with the version of a snapshot equals the snapshot's content (cache.lookup).
//
// A revocation takes effect at once. A trigger of the schema gives each change of an account, a
// service account or a grant a new version in the same transaction, and its response follows the
// commit. The operation of a later request reads the new version, in every process on the database,
// and ignores older entries. Before the operation, Identify and Preauthorize may accept a caller by
// an outdated entry, because reading the version would cost a snapshot, but never refuse one by it.
// Entries expire too (greatestAge), in case a damaged database lacks the trigger.
// The expiry of a credential is checked every time.
//
// Sessions of the console (session.go) store a credential in a cookie. LastUses (lastuse.go)
// records when Authorize accepted a token.
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
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Authenticator identifies and authorizes callers. It is safe for concurrent use.
type Authenticator struct {
	// LastUses records the last use of each service account.
	LastUses *LastUses
	store    store.Store
	now      func() time.Time
	verifier identity.TokenVerifier
	cache    cache
	// attempts caches the service account of attemptSecret.
	attempts atomic.Pointer[entry]
}

// NewAuthenticator returns an Authenticator for the service accounts in s and the access tokens
// that verifier accepts. A nil verifier accepts none.
func NewAuthenticator(s store.Store, now func() time.Time, verifier identity.TokenVerifier, log *slog.Logger) *Authenticator {
	return &Authenticator{LastUses: newLastUses(s, log), store: s, now: now, verifier: verifier, cache: cache{clock: time.Now}}
}

// AcceptsAccessTokens reports whether users and groups of an OAuth issuer can be callers.
func (a *Authenticator) AcceptsAccessTokens() bool { return a.verifier != nil }

// Identify returns the caller in the Authorization headers, or a 401. A user's account is not set
// yet. A cached token may already be revoked.
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
	case (a.verifier != nil || isJWT(presented)) && !strings.HasPrefix(presented, api.TokenPrefix+"_"):
		return a.user(ctx, presented)
	}
	return Caller{}, invalidToken(api.TypeInvalidToken, "the bearer token is malformed; was it copied whole?")
}

// isJWT reports whether a token has the three parts of a signed JWT (RFC 7515, section 7.1).
func isJWT(token string) bool { return strings.Count(token, ".") == 2 }

// user returns the caller of an access token of the OAuth issuer.
func (a *Authenticator) user(ctx context.Context, token string) (Caller, error) {
	if a.verifier == nil {
		return Caller{}, invalidToken(api.TypeInvalidToken, "this API accepts no access tokens of an issuer")
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

// Preauthorize authorizes a caller before the rest of the request is read, usually without a
// snapshot. An outdated cache entry may permit, but only a snapshot refuses: the caller may have
// got a grant since, or the account may be active again.
func (a *Authenticator) Preauthorize(ctx context.Context, who Caller, spec api.Spec) (Caller, error) {
	if e, ok := a.cache.get(who.key()); ok {
		if cached, err := e.authorize(who, spec, a.now()); err == nil && cached.MayChange(spec) == nil {
			return cached, nil
		}
	}
	return a.AuthorizeNow(ctx, who, spec)
}

// AuthorizeNow is Authorize in a new snapshot.
func (a *Authenticator) AuthorizeNow(ctx context.Context, who Caller, spec api.Spec) (Caller, error) {
	return store.Read(ctx, a.store, func(r store.Reader) (Caller, error) { return a.Authorize(r, who, spec) })
}

// Authorize returns the caller with the grants in r, or a 401 or 403.
func (a *Authenticator) Authorize(r store.Reader, who Caller, spec api.Spec) (Caller, error) {
	e, err := a.cache.lookup(r, who)
	if err != nil {
		return Caller{}, err
	}
	now := a.now()
	who, err = e.authorize(who, spec, now)
	if who.IsServiceAccount() { // the token works, even if the caller lacks the capability
		a.LastUses.note(e.serviceAccount, now)
	}
	return who, err
}

// noOperation requires only a working credential, and of a user any grant.
var noOperation = api.Spec{Method: http.MethodGet}

// authorize returns the caller with the grants of the entry, a 401 if the credential does not work,
// or a 403 with the caller. Its duration does not depend on the secret. It may reveal that the
// public id exists, which is not secret.
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

// expired reports whether a credential has expired; a zero time never expires.
func expired(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func unknownToken() error {
	return invalidToken(api.TypeInvalidToken, "no service account has this token")
}

// invalidToken returns the 401 for a token. Its error_description contains only the characters that
// RFC 6750, section 3, allows.
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
