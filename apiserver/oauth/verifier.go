package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// DefaultGroupsClaim is the claim that names a user's groups where
// Options.GroupsClaim does not say otherwise.
const DefaultGroupsClaim = "groups"

// maxTokenLength bounds the work for one token, in bytes.
const maxTokenLength = 16 << 10

// earliness is how long before its nbf claim a token may come, as in go-oidc.
const earliness = 5 * time.Minute

// algorithms are those that a token may be signed with. They are all asymmetric:
// with HMAC a public key would do as the secret (RFC 8725, section 2.1).
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Options configures a Verifier. Issuer and Audience are required.
type Options struct {
	// Issuer is the URL of the issuer, exactly as it stands in its tokens.
	Issuer string
	// Audience is how the issuer names this API in the aud claim.
	Audience string
	// GroupsClaim is the claim that names the user's groups, as a string or an
	// array of strings; empty: DefaultGroupsClaim.
	GroupsClaim string
	// Clock tells the time; nil: the system's.
	Clock func() time.Time
	// Transport makes the requests to the issuer; nil: http.DefaultTransport.
	Transport http.RoundTripper
	// Logger is told when the issuer can't be reached; nil: nothing is logged.
	Logger *slog.Logger
}

// Verifier validates the access tokens of one issuer. It implements
// apiserver.TokenVerifier and is safe for concurrent use.
type Verifier struct {
	issuer, audience, groupsClaim string

	clock  func() time.Time
	config *oidc.Config
	keys   *keySet
}

// New returns a Verifier. It makes no request: the issuer may be down.
func New(o Options) (*Verifier, error) {
	if err := checkIssuer(o.Issuer); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if o.Audience == "" {
		return nil, errors.New("audience: it is required, so that a token for another API does not open this one")
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = DefaultGroupsClaim
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	config := &oidc.Config{ClientID: o.Audience, Now: o.Clock}
	for _, a := range algorithms {
		config.SupportedSigningAlgs = append(config.SupportedSigningAlgs, string(a))
	}
	return &Verifier{
		issuer: o.Issuer, audience: o.Audience, groupsClaim: o.GroupsClaim,
		clock: o.Clock, config: config, keys: newKeySet(o),
	}, nil
}

// VerifyToken implements apiserver.TokenVerifier.
func (v *Verifier) VerifyToken(ctx context.Context, token string) (apiserver.User, error) {
	typ, err := v.parse(token)
	if err != nil {
		return apiserver.User{}, err
	}
	check := &signatureCheck{keys: v.keys}
	_, err = oidc.NewVerifier(v.issuer, check, v.config).Verify(ctx, token)
	switch {
	case check.err != nil:
		return apiserver.User{}, check.err
	case err != nil:
		return apiserver.User{}, v.explain(err, check.payload)
	}
	var registered jwt.Claims
	var c claims
	switch {
	case json.Unmarshal(check.payload, &registered) != nil || json.Unmarshal(check.payload, &c) != nil:
		return apiserver.User{}, errClaims
	// go-oidc takes a claim's name in any case, and lets the last instant pass.
	case !registered.Audience.Contains(v.audience):
		return apiserver.User{}, errAudience
	case !v.clock().Before(registered.Expiry.Time()):
		return apiserver.User{}, apiserver.ErrTokenExpired
	case v.clock().Add(earliness).Before(registered.NotBefore.Time()):
		return apiserver.User{}, errNotYet
	}
	if !c.ofAccessToken(typ) {
		return apiserver.User{}, errNoAccessToken
	}
	user, err := c.user(v.groupsClaim)
	if err != nil {
		return apiserver.User{}, err
	}
	user.ExpiresAt = registered.Expiry.Time().UTC()
	return user, nil
}

// What a caller is told of a token that is refused.
var (
	errMalformed     = invalid("the bearer token is malformed: it is neither a service account's token nor a signed JWT")
	errTooLong       = invalid("the access token is too long")
	errIssuer        = invalid("the access token is of another issuer than this API's")
	errSignature     = invalid("the access token is not signed by a key of its issuer")
	errAudience      = invalid("the access token is not for this API: its aud claim does not name it")
	errCritical      = invalid("the access token's header has crit: this API knows no extensions that must be understood")
	errNotYet        = invalid("the access token is not valid yet")
	errClaims        = invalid("the access token's claims can't be read")
	errNoExpiry      = invalid("the access token has no exp claim")
	errNoAccessToken = invalid("the JWT is not an access token; an ID token or a refresh token opens nothing here")
	errGroups        = invalid("the access token's groups claim must be a string or an array of strings")
)

func invalid(reason string) error { return &apiserver.InvalidTokenError{Reason: reason} }

// parse refuses what can be told to be no token for this API without its
// issuer's keys, so that nobody is asked for them, and returns the token's type.
// What it lets pass is not verified.
func (v *Verifier) parse(token string) (typ string, err error) {
	if len(token) > maxTokenLength {
		return "", errTooLong
	}
	// Who signs and who reads must see the same: no white space, as go-jose would
	// let pass.
	if strings.ContainsFunc(token, outsideCompactJWS) {
		return "", errMalformed
	}
	t, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return "", errMalformed
	}
	if hasCritical(token) {
		return "", errCritical
	}
	var c jwt.Claims
	var times times
	if t.UnsafeClaimsWithoutVerification(&c, &times) != nil {
		return "", errClaims
	}
	if c.Issuer != v.issuer {
		return "", errIssuer
	}
	switch typ = headerType(t); typ {
	case "", "jwt", typeAccessToken:
		return typ, nil
	}
	return "", errNoAccessToken
}

// outsideCompactJWS reports whether a character has no place in the compact
// serialisation (RFC 7515, section 7.1).
func outsideCompactJWS(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

// explain returns why go-oidc refuses the claims of a token with a good
// signature.
func (v *Verifier) explain(err error, payload []byte) error {
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		if expired.Expiry.IsZero() {
			return errNoExpiry
		}
		return apiserver.ErrTokenExpired
	}
	var c jwt.Claims
	switch {
	case json.Unmarshal(payload, &c) != nil:
		return errClaims
	case !c.Audience.Contains(v.audience):
		return errAudience
	case c.NotBefore.Time().After(v.clock()):
		return errNotYet
	}
	return errClaims
}

// signatureCheck is the check of one token's signature. go-oidc keeps only the
// text of an error.
type signatureCheck struct {
	keys    *keySet
	payload []byte
	err     error
}

// VerifySignature implements oidc.KeySet.
func (c *signatureCheck) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	c.payload, c.err = c.keys.verify(ctx, token)
	return c.payload, c.err
}
