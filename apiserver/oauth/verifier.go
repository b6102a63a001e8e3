// Package oauth validates the JWT access tokens of an OAuth 2.0 issuer for the service, a resource
// server of RFC 6750 and RFC 9068.
//
// A Verifier fetches the issuer's keys by OpenID Connect Discovery with the first token, every ten
// minutes, and when a token names an unknown key, at a limited rate. During an outage of the issuer
// it uses the known keys for up to an hour.
//
// A token is valid until the instant of its exp claim, and from five minutes before its
// nbf claim, because the issuer's clock may be ahead (RFC 7519, section 4.1.5). Neither
// may be after the year 9999.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// maxTokenLength limits the work for one token, in bytes.
const maxTokenLength = 16 << 10

// notBeforeLeeway is how long before its nbf claim a token is accepted.
const notBeforeLeeway = 5 * time.Minute

// algorithms are the accepted signature algorithms. All are asymmetric: with HMAC, a
// public key could be used as the secret (RFC 8725, section 2.1).
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options configures a Verifier. Issuer and Audience are required.
type Options struct {
	// Issuer is the URL of the issuer, exactly as in the tokens' iss claim.
	Issuer string
	// Audience is this API's name in the aud claim.
	Audience string
	// GroupsClaim is the claim with the user's groups, a string or an array of strings; the default
	// is groups.
	GroupsClaim string
	// Clock returns the time; nil uses the system's.
	Clock func() time.Time
	// Transport sends requests to the issuer; nil uses http.DefaultTransport.
	Transport http.RoundTripper
	// Logger logs a warning when the issuer is unavailable; nil logs nothing.
	Logger *slog.Logger
}

// Verifier validates the access tokens of one issuer. It implements
// identity.TokenVerifier and is safe for concurrent use.
type Verifier struct {
	options Options
	// workloads is set for an issuer of workloads' tokens, not people's.
	workloads []Workload

	client  *http.Client
	fetches singleflight.Group
	limiter *rate.Limiter

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	endpoint oauth2.Endpoint
	// dueAt is the time of the next fetch, trustedUntil the time until which the keys can be used.
	dueAt, trustedUntil time.Time
	// failed reports whether the last fetch failed.
	failed bool
}

// New returns a Verifier. It sends no request, so the issuer may be unavailable.
func New(o Options) (*Verifier, error) {
	if err := CheckIssuer(o.Issuer); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if o.Audience == "" {
		return nil, errors.New("audience: it is required, so that a token for another API is not valid for this one")
	}
	o.GroupsClaim = cmp.Or(o.GroupsClaim, "groups")
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Verifier{
		options: o,
		client: &http.Client{
			Transport: limitedTransport{o.Transport},
			// Don't follow redirects, which could lead to another site.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		limiter: rate.NewLimiter(rate.Every(fetchEvery), fetchBurst),
	}, nil
}

func (v *Verifier) Issuer() string { return v.options.Issuer }

// Check fetches the issuer's keys and returns the number of keys that can verify a token.
func (v *Verifier) Check(ctx context.Context) (keys int, err error) {
	found, _, err := v.read(ctx)
	return len(found), err
}

// Endpoint returns the sign-in endpoint of the issuer. It is cached like the keys.
func (v *Verifier) Endpoint(ctx context.Context) (oauth2.Endpoint, error) {
	if _, err := v.current(ctx); err != nil {
		return oauth2.Endpoint{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.endpoint, nil
}

// VerifyToken implements identity.TokenVerifier. It fetches no keys for a token that can't be valid
// for this API.
func (v *Verifier) VerifyToken(ctx context.Context, token string) (identity.User, error) {
	t, registered, c, err := parse(token)
	if err != nil {
		return identity.User{}, err
	}
	typ := headerType(t)
	switch {
	case registered.Issuer != v.options.Issuer:
		return identity.User{}, errIssuer
	case !slices.Contains([]string{"", "jwt", typeAccessToken}, typ):
		return identity.User{}, errNotAccessToken
	}
	if err := v.verify(ctx, t); err != nil {
		return identity.User{}, err
	}
	now := v.options.Clock()
	switch {
	case c.hasDistantTime():
		return identity.User{}, errClaims
	case !registered.Audience.Contains(v.options.Audience):
		return identity.User{}, errAudience
	case registered.Expiry == nil:
		return identity.User{}, errNoExpiry
	case !now.Before(registered.Expiry.Time()):
		return identity.User{}, identity.ErrTokenExpired
	case now.Add(notBeforeLeeway).Before(registered.NotBefore.Time()):
		return identity.User{}, errNotYet
	}
	user, err := v.user(c, typ)
	if err != nil {
		return identity.User{}, err
	}
	user.ExpiresAt = registered.Expiry.Time().UTC()
	return user, nil
}

func (v *Verifier) user(c claims, typ string) (identity.User, error) {
	switch {
	case v.workloads != nil:
		return v.workload(c)
	case !c.isAccessToken(typ):
		return identity.User{}, errNotAccessToken
	case strings.HasPrefix(c.text("sub"), identity.WorkloadPrefix):
		return identity.User{}, errReserved
	}
	return c.user(v.options.GroupsClaim)
}

// The errors returned to callers.
var (
	errMalformed      = invalid("the bearer token is malformed: it is neither a service account's token nor a signed JWT")
	errTooLong        = invalid("the access token is too long")
	errIssuer         = invalid("the access token is from another issuer than this API's")
	errSignature      = invalid("the access token is not signed by a key of its issuer")
	errAudience       = invalid("the access token is not for this API: its aud claim does not name it")
	errNotYet         = invalid("the access token is not valid yet")
	errClaims         = invalid("the access token's claims can't be read")
	errNoExpiry       = invalid("the access token has no exp claim")
	errNotAccessToken = invalid("the JWT is not an access token; an ID token or a refresh token is not accepted")
	errReserved       = invalid("the access token's sub claim begins with " + identity.WorkloadPrefix + ", which is reserved for workloads")
	errNoWorkload     = invalid("the access token's claims match no trusted workload")
	errGroups         = invalid("the access token's groups claim must be a string or an array of strings")
)

func invalid(reason string) error { return &identity.InvalidTokenError{Reason: reason} }

// parse decodes a token without verifying it.
func parse(token string) (t *jwt.JSONWebToken, registered jwt.Claims, c claims, err error) {
	if len(token) > maxTokenLength {
		return nil, registered, nil, errTooLong
	}
	if t, err = jwt.ParseSigned(token, algorithms); err != nil {
		return nil, registered, nil, errMalformed
	}
	if t.UnsafeClaimsWithoutVerification(&registered, &c) != nil {
		return nil, registered, nil, errClaims
	}
	return t, registered, c, nil
}
