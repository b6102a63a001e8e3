// Package auth identifies the callers of requests by their credentials and decides what
// they may do: service account tokens, access tokens of an OAuth issuer, grants and the
// part of an account that a restricted grant covers.
//
// A request is authorized twice: when it arrives (Enter), and in the snapshot or
// transaction of its operation (Authorize). Authorize takes what the store has about the
// caller from a cache, if it was read at the same store.Reader.AuthorizationVersion. Each
// change of an account, a service account or a grant by any process has a new version, so
// that a revocation takes effect at once. Enter admits a caller whom the cache accepts
// without a look at the version, which would cost a snapshot of its own; Verify repeats it
// for a request that does not reach its operation. What depends on the time, such as an
// expiry, is evaluated each time.
package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Identify returns the caller that the Authorization headers name, or a 401. Only a service
// account has its grants already.
func (a *Authenticator) Identify(ctx context.Context, authorization []string) (Caller, error) {
	if who, trusted := Trusted(ctx); trusted {
		return who, nil
	}
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
		return a.admit(ctx, Caller{publicID: token.PublicID, secretHash: token.Hash()})
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

// Enter returns an identified caller as one of an account that may use an operation, or a 401 or
// 403.
func (a *Authenticator) Enter(ctx context.Context, who Caller, accountID string, spec api.Spec) (Caller, error) {
	who, err := who.enter(accountID, spec)
	if err == nil && !who.IsServiceAccount() {
		who, err = a.admit(ctx, who)
	}
	if err != nil {
		return Caller{}, err
	}
	if err = who.mayUse(spec); err != nil && who.unverified {
		return a.Verify(ctx, who, spec)
	}
	return who, err
}

// Verify authorizes a caller that Enter may have admitted by the cache, as Authorize does, in a
// snapshot of its own.
func (a *Authenticator) Verify(ctx context.Context, who Caller, spec api.Spec) (Caller, error) {
	return store.Read(ctx, a.store, func(r store.Reader) (Caller, error) { return a.Authorize(r, who, spec) })
}

// Authorize returns the caller as it is in r, the snapshot or transaction of an operation, or a
// 401 or 403: since Enter the credential may have expired or been revoked, and the grants and
// the account may have changed.
func (a *Authenticator) Authorize(r store.Reader, who Caller, spec api.Spec) (Caller, error) {
	who, err := a.current(r, who)
	if err != nil {
		return Caller{}, err
	}
	return who, who.mayUse(spec)
}

// admit returns a caller whom the cache accepts, as of an earlier time, or else what view
// returns. A cancelled account may be active again.
func (a *Authenticator) admit(ctx context.Context, who Caller) (Caller, error) {
	if e, ok := a.cache.get(who.key()); ok {
		if admitted, err := who.evaluate(e, a.now()); err == nil && !admitted.cancelled {
			admitted.unverified = true
			return admitted, nil
		}
	}
	return a.view(ctx, who)
}

// view is current in a snapshot of its own.
func (a *Authenticator) view(ctx context.Context, who Caller) (Caller, error) {
	return store.Read(ctx, a.store, func(r store.Reader) (Caller, error) { return a.current(r, who) })
}

// current returns the caller as it is in r at this time, or a 401. Its duration reveals nothing
// of a token's secret. It may reveal that the public id exists, which is no secret.
func (a *Authenticator) current(r store.Reader, who Caller) (Caller, error) {
	e, err := a.read(r, who)
	if err != nil {
		return Caller{}, err
	}
	now := a.now()
	if who, err = who.evaluate(e, now); err != nil {
		return Caller{}, err
	}
	if who.IsServiceAccount() {
		a.LastUses.note(e.serviceAccount, now)
	}
	return who, nil
}

// evaluate returns the caller with what the store has about it, or a 401.
func (c Caller) evaluate(e entry, now time.Time) (Caller, error) {
	if c.IsServiceAccount() {
		if subtle.ConstantTimeCompare(e.serviceAccount.SecretHash, c.secretHash) != 1 {
			return Caller{}, unknownToken()
		}
		if err := CheckServiceAccount(e.serviceAccount, now); err != nil {
			return Caller{}, err
		}
		c = c.as(e.serviceAccount)
	} else if expired(c.ExpiresAt, now) {
		return Caller{}, invalidToken(api.TypeTokenExpired, identity.ErrTokenExpired.Error())
	}
	if c.Grants = e.grants; c.operator {
		c.Grants = c.operatorGrants()
	}
	c.cancelled, c.unverified = e.account.StatusAt(now) == vocab.AccountCancelled, false
	return c, nil
}

// read returns what r has about a caller, from the cache if that holds for r.
func (a *Authenticator) read(r store.Reader, who Caller) (e entry, err error) {
	if e.version, err = r.AuthorizationVersion(); err != nil {
		return entry{}, err
	}
	key := who.key()
	if cached, ok := a.cache.get(key); ok && cached.version == e.version {
		return cached, nil
	}
	if who.IsServiceAccount() {
		e.serviceAccount, err = r.ServiceAccountByPublicID(who.publicID)
		if errors.Is(err, store.ErrNotFound) {
			err = unknownToken()
		}
		if err != nil {
			return entry{}, err
		}
		who = who.as(e.serviceAccount)
	}
	grants, err := r.GrantsOf(who.AccountID, who.Subjects)
	if err != nil || len(grants) == 0 && who.isUser() {
		return e, err // for a user, only the accounts exist that grant something
	}
	e.grants = distinct(grants)
	if e.account, err = r.Account(who.AccountID); err != nil {
		return entry{}, fmt.Errorf("account of an accepted credential: %w", err)
	}
	a.cache.put(key, e)
	return e, nil
}

// distinct removes the grants that permit the same as another, for instance one of a group.
func distinct(grants []store.Authorization) []store.Authorization {
	seen := map[store.Authorization]bool{}
	return slices.DeleteFunc(grants, func(g store.Authorization) bool {
		g.ID, g.SubjectType, g.SubjectID, g.CreatedAt = "", "", "", time.Time{}
		duplicate := seen[g]
		seen[g] = true
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

// cacheSize is when a cache starts anew. An entry counts 1 and each of its grants too: 20 MB or so.
const cacheSize = 50_000

// entry is what the store has about a caller. It is shared and not changed.
type entry struct {
	// version is the store.Reader.AuthorizationVersion for which it holds.
	version        int64
	serviceAccount store.ServiceAccount // zero for a user
	account        store.Account
	grants         []store.Authorization
}

func (e entry) size() int64 { return int64(1 + len(e.grants)) }

// cache holds entries by Caller.key. It is safe for concurrent use.
type cache struct {
	entries sync.Map // of entry
	size    atomic.Int64
}

// get returns the entry of a key, which may be outdated.
func (c *cache) get(key string) (entry, bool) {
	e, ok := c.entries.Load(key)
	if !ok {
		return entry{}, false
	}
	return e.(entry), true
}

// put replaces the entry of a key, whose earlier one still counts. A full cache starts anew.
func (c *cache) put(key string, e entry) {
	if c.size.Add(e.size()) > cacheSize {
		c.entries.Clear()
		c.size.Store(e.size())
	}
	c.entries.Store(key, e)
}
