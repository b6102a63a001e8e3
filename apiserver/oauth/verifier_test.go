package oauth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

var _ identity.TokenVerifier = (*Verifier)(nil)

// accepts fails the test unless a token is valid.
func (i *issuer) accepts(token string) identity.User {
	i.t.Helper()
	user, err := i.VerifyToken(i.t.Context(), token)
	if err != nil {
		i.t.Fatalf("rejected: %v", err)
	}
	return user
}

// rejects fails the test unless a token is rejected with the error want.
func (i *issuer) rejects(token string, want error) {
	i.t.Helper()
	if user, err := i.VerifyToken(i.t.Context(), token); !errors.Is(err, want) || !reflect.DeepEqual(user, identity.User{}) {
		i.t.Fatalf("%+v, %v; want %v", user, err, want)
	}
}

func TestUserOfAToken(t *testing.T) {
	i := newIssuer(t)
	for name, tt := range map[string]struct {
		claims []any
		want   identity.User
	}{
		"only sub":               {nil, identity.User{ID: "jane"}},
		"a person":               {[]any{"name", "Jane Doe", "email", "jane@example.com", "email_verified", true}, identity.User{ID: "jane", Name: "Jane Doe", Email: "jane@example.com"}},
		"email perhaps verified": {[]any{"name", "Jane Doe", "email", "jane@example.com"}, identity.User{ID: "jane", Name: "Jane Doe"}},
		"email verified, 1":      {[]any{"email", "jane@example.com", "email_verified", 1}, identity.User{ID: "jane"}},
		"email verified":         {[]any{"email", "jane@example.com", "email_verified", true}, identity.User{ID: "jane", Email: "jane@example.com"}},
		"email verified as text": {[]any{"email", "jane@example.com", "email_verified", "true"}, identity.User{ID: "jane", Email: "jane@example.com"}},
		"email not verified":     {[]any{"email", "jane@example.com", "email_verified", false}, identity.User{ID: "jane"}},
		"name of no text":        {[]any{"name", 5, "email", []string{"x"}}, identity.User{ID: "jane"}},
		"groups":                 {[]any{"groups", []string{"a", "b"}}, identity.User{ID: "jane", Groups: []string{"a", "b"}}},
		"one group":              {[]any{"groups", "a"}, identity.User{ID: "jane", Groups: []string{"a"}}},
		"no group":               {[]any{"groups", []string{}}, identity.User{ID: "jane", Groups: []string{}}},
		"groups are null":        {[]any{"groups", json.RawMessage("null")}, identity.User{ID: "jane"}},
		"expiry in 9999":         {[]any{"exp", lastSecond}, identity.User{ID: "jane", ExpiresAt: time.Unix(lastSecond, 0).UTC()}},
		"groups in another case": {[]any{"Groups", []string{"admins"}, "SUB", "root"}, identity.User{ID: "jane"}},
		"several audiences":      {[]any{"aud", []string{"https://other.test", audience}}, identity.User{ID: "jane"}},
		"nbf in the past":        {[]any{"nbf", start.Add(-time.Minute).Unix()}, identity.User{ID: "jane"}},
		"fraction in exp":        {[]any{"exp", float64(start.Add(time.Hour).Unix()) + .5}, identity.User{ID: "jane"}},
		"clocks differ":          {[]any{"nbf", start.Add(time.Minute).Unix(), "iat", start.Add(time.Minute).Unix()}, identity.User{ID: "jane"}},
	} {
		t.Run(name, func(t *testing.T) {
			user, err := i.VerifyToken(t.Context(), i.token(tt.claims...))
			if tt.want.ExpiresAt.IsZero() {
				tt.want.ExpiresAt = start.Truncate(time.Second).Add(time.Hour)
			}
			assert.Check(t, err == nil && reflect.DeepEqual(user, tt.want), "%+v, %v; want %+v", user, err, tt.want)
		})
	}

	other := i.verifier(Options{GroupsClaim: "https://example.com/roles"})
	user, err := other.VerifyToken(t.Context(), i.token("groups", 5, "https://example.com/roles", "a"))
	assert.Check(t, err == nil && reflect.DeepEqual(user.Groups, []string{"a"}), "another claim: %+v, %v", user, err)
}

func TestAlgorithmsAndTypes(t *testing.T) {
	i := newIssuer(t)
	i.publish(jwk("rsa", rsaKey.Public()), jwk("p256", p256Key.Public()), jwk("p384", p384Key.Public()), jwk("ed", edKey.Public()))
	for _, tt := range []struct {
		alg jose.SignatureAlgorithm
		key any
		kid string
	}{
		{jose.RS256, rsaKey, "rsa"}, {jose.RS512, rsaKey, "rsa"}, {jose.PS384, rsaKey, "rsa"},
		{jose.ES256, p256Key, "p256"}, {jose.ES384, p384Key, "p384"}, {jose.EdDSA, edKey, "ed"},
	} {
		for _, header := range []obj{
			{"kid": tt.kid}, {}, {"kid": tt.kid, "typ": "JWT"}, {"kid": tt.kid, "typ": "AT+JWT"}, {"kid": tt.kid, "typ": "application/at+jwt"},
		} {
			user, err := i.VerifyToken(t.Context(), sign(t, tt.alg, tt.key, header, i.claims()))
			assert.Check(t, err == nil && user.ID == "jane", "%s %v: %+v, %v", tt.alg, header, user, err)
		}
	}
	assert.Check(t, is.Equal(i.fetches(), 1), "the issuer received")
}

// unsigned returns a token with an unchecked header, claims and signature.
func unsigned(header, claims obj, signature string) string {
	encode := func(v any) string { return base64.RawURLEncoding.EncodeToString(must(json.Marshal(v))) }
	return encode(header) + "." + encode(claims) + "." + signature
}

func TestRejectedTokens(t *testing.T) {
	i := newIssuer(t)
	good := i.token()
	parts := strings.Split(good, ".")
	public := must(x509.MarshalPKIXPublicKey(rsaKey.Public()))
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	asRSA := func(header obj, claims any) string { return sign(t, jose.RS256, rsaKey, header, claims) }
	plain := obj{"kid": "rsa", "typ": "JWT"}
	secs := func(d time.Duration) int64 { return start.Add(d).Unix() }

	for _, tt := range []struct {
		name, token string
		want        error
	}{
		{"a word", "abc", errMalformed},
		{"empty", "", errMalformed},
		{"two parts", parts[0] + "." + parts[1], errMalformed},
		{"four parts", good + ".x", errMalformed},
		{"no signature", parts[0] + "." + parts[1] + ".", errSignature},
		{"padding", parts[0] + "=." + parts[1] + "." + parts[2], errMalformed},
		{"too long", good + strings.Repeat("A", maxTokenLength), errTooLong},
		{"JSON serialisation", `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, errMalformed},
		{"header is no JSON", "e30x." + parts[1] + "." + parts[2], errMalformed},
		{"claims are no JSON", asRSA(plain, "claims"), errClaims},
		{"claims are a list", asRSA(plain, "[]"), errClaims},
		{"a claim twice", asRSA(plain, `{"sub":"jane","iss":"`+i.url+`","sub":"root"}`), errClaims},
		{"unknown critical header", asRSA(obj{"kid": "rsa", "crit": []string{"x"}, "x": 1}, i.claims()), errSignature},

		{"alg none", unsigned(obj{"alg": "none", "typ": "at+jwt"}, i.claims(), ""), errMalformed},
		{"alg None", unsigned(obj{"alg": "None", "kid": "rsa"}, i.claims(), ""), errMalformed},
		{"alg none with a signature", unsigned(obj{"alg": "none", "kid": "rsa"}, i.claims(), parts[2]), errMalformed},
		{"no alg", unsigned(obj{"kid": "rsa"}, i.claims(), parts[2]), errMalformed},
		{"HS256", sign(t, jose.HS256, hmacSecret, plain, i.claims()), errMalformed},
		{"HS256 with the public key, DER", sign(t, jose.HS256, public, plain, i.claims()), errMalformed},
		{"HS256 with the public key, PEM", sign(t, jose.HS256, publicPEM, plain, i.claims()), errMalformed},
		{"HS256 with the modulus", sign(t, jose.HS256, rsaKey.N.Bytes(), plain, i.claims()), errMalformed},

		{"wrong signature", sign(t, jose.RS256, otherRSA, plain, i.claims()), errSignature},
		{"other claims", parts[0] + "." + strings.Split(i.token("sub", "root"), ".")[1] + "." + parts[2], errSignature},
		{"other algorithm", strings.Split(sign(t, jose.PS256, rsaKey, plain, i.claims()), ".")[0] + "." + parts[1] + "." + parts[2], errSignature},
		{"key of another kid", asRSA(obj{"kid": "p256"}, i.claims()), errSignature},
		{"unknown kid", asRSA(obj{"kid": "new"}, i.claims()), errSignature},
		{"unknown key without a kid", sign(t, jose.RS256, otherRSA, obj{}, i.claims()), errSignature},
		{"its own key", sign(t, jose.RS256, otherRSA, obj{"kid": "rsa", "jwk": jwk("rsa", otherRSA.Public())}, i.claims()), errSignature},
		{"its own keys' place", sign(t, jose.RS256, otherRSA, obj{"kid": "rsa", "jku": "https://evil.test/keys"}, i.claims()), errSignature},

		{"wrong issuer", i.token("iss", "https://evil.test"), errIssuer},
		{"issuer with a slash", i.token("iss", i.url+"/"), errIssuer},
		{"no issuer", i.token("iss", nil), errIssuer},
		{"issuer of no text", i.token("iss", 5), errClaims},
		{"wrong audience", i.token("aud", "https://other.test"), errAudience},
		{"audience as a part", i.token("aud", audience+"/x"), errAudience},
		{"wrong audiences", i.token("aud", []string{"a", "b"}), errAudience},
		{"no audience", i.token("aud", nil), errAudience},
		{"audience of no text", i.token("aud", obj{"x": audience}), errClaims},

		{"expired", i.token("exp", secs(-time.Second)), identity.ErrTokenExpired},
		{"expired long ago", i.token("exp", secs(-1000*time.Hour)), identity.ErrTokenExpired},
		{"expired and not signed", sign(t, jose.RS256, otherRSA, plain, i.claims("exp", secs(-time.Hour))), errSignature},
		{"expiry in another case", asRSA(plain, `{"iss":"`+i.url+`","aud":"`+audience+`","sub":"jane","exp":1,"EXP":9999999999}`), identity.ErrTokenExpired},
		{"audience in another case", asRSA(plain, `{"iss":"`+i.url+`","aud":"other","AUD":"`+audience+`","sub":"jane","exp":9999999999}`), errAudience},
		{"no expiry", i.token("exp", nil), errNoExpiry},
		{"expiry of no number", i.token("exp", "tomorrow"), errClaims},
		{"expiry in the year 10000", i.token("exp", lastSecond+1), errClaims},
		{"expiry beyond int64", i.token("exp", 1e19), errClaims},
		{"expiry at the end of int64", i.token("exp", int64(math.MaxInt64)), errClaims},
		{"expiry before all time", i.token("exp", -1e300), errClaims},
		{"not before beyond int64", i.token("nbf", 1e300), errClaims},
		{"not before beyond all numbers", asRSA(plain, strings.Replace(string(must(json.Marshal(i.claims()))), "{", `{"nbf":1e999,`, 1)), errClaims},
		{"issued beyond int64", i.token("iat", 1e300), errClaims},
		{"not before in another case", asRSA(plain, fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"jane","exp":9999999999,"nbf":%d,"NBF":1}`, i.url, audience, secs(time.Hour))), errNotYet},
		{"not yet valid", i.token("nbf", secs(time.Hour), "exp", secs(2*time.Hour)), errNotYet},

		{"groups are a number", i.token("groups", 5), errGroups},
		{"groups are an object", i.token("groups", obj{"a": true}), errGroups},
		{"a group is a number", i.token("groups", []any{"a", 5}), errGroups},

		{"logout token", asRSA(obj{"kid": "rsa", "typ": "logout+jwt"}, i.claims()), errNotAccessToken},
		{"type of no text", asRSA(obj{"kid": "rsa", "typ": 5}, i.claims()), errNotAccessToken},
		{"ID token", asRSA(plain, i.claims("at_hash", "x")), errNotAccessToken},
		{"ID token with a code", asRSA(obj{"kid": "rsa"}, i.claims("c_hash", "x")), errNotAccessToken},
		{"ID token of Keycloak", asRSA(plain, i.claims("typ", "ID")), errNotAccessToken},
		{"refresh token of Keycloak", asRSA(plain, i.claims("typ", "Refresh")), errNotAccessToken},
		{"ID token of Cognito", asRSA(plain, i.claims("token_use", "id")), errNotAccessToken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i.clock.Advance(fetchEvery) // allows a fetch
			user, err := i.VerifyToken(t.Context(), tt.token)
			assert.Check(t, errors.Is(err, tt.want) && reflect.DeepEqual(user, identity.User{}), "%+v, %v; want %v", user, err, tt.want)
		})
	}
	i.accepts(good)
	i.accepts(asRSA(plain, i.claims("typ", "Bearer")))
	assert.Check(t, is.Equal(i.log.String(), ""), "tokens are logged")
}

// TestTokenWithoutAUser checks that a token without a user is valid here; the service
// rejects it.
func TestTokenWithoutAUser(t *testing.T) {
	i := newIssuer(t)
	user := i.accepts(i.token("sub", nil))
	assert.Check(t, user.ID == "", "%+v", user)
	i.rejects(i.token("sub", 5), errClaims)
}

func TestTimeOfAToken(t *testing.T) {
	i := newIssuer(t)
	token := i.token("exp", start.Add(time.Hour).Unix(), "nbf", start.Add(10*time.Minute).Unix())
	i.rejects(token, errNotYet)
	i.clock.Advance(10 * time.Minute)
	i.accepts(token)
	i.clock.Set(start.Add(time.Hour).Truncate(time.Second).Add(-1))
	i.accepts(token)
	i.clock.Advance(1)
	i.rejects(token, identity.ErrTokenExpired)
}

func TestNew(t *testing.T) {
	for _, issuer := range []string{
		"https://login.example.com", "https://login.example.com/realms/x/", "https://login.example.com:8443",
		"http://localhost:8080/realms/x", "http://127.0.0.1", "http://[::1]:80",
	} {
		_, err := New(Options{Issuer: issuer, Audience: "a"})
		assert.Check(t, err, issuer)
	}
	for _, tt := range []struct{ issuer, audience, want string }{
		{"", "a", "issuer: it must be an https URL, for instance"},
		{"login.example.com", "a", "issuer: it must be an https URL, for instance"},
		{"https://", "a", "issuer: it must be an https URL, for instance"},
		{"https:///realms", "a", "issuer: it must be an https URL, for instance"},
		{"ftp://login.example.com", "a", "issuer: it must be an https URL, for instance"},
		{"https://login.example.com\n", "a", "issuer: it must be an https URL, for instance"},
		{"http://login.example.com", "a", "login.example.com is another"},
		{"http://127.0.0.1.example.com", "a", "127.0.0.1.example.com is another"},
		{"https://u:secret@login.example.com", "a", "issuer: an issuer's URL must not have a user"},
		{"https://login.example.com?x=1", "a", "issuer: an issuer's URL must not have a user, a query or a fragment"},
		{"https://login.example.com?", "a", "issuer: an issuer's URL must not have a user, a query or a fragment"},
		{"https://login.example.com#x", "a", "issuer: an issuer's URL must not have a user, a query or a fragment"},
		{"https://login.example.com", "", "audience: it is required"},
	} {
		v, err := New(Options{Issuer: tt.issuer, Audience: tt.audience})
		assert.Check(t, v == nil && err != nil && strings.Contains(err.Error(), tt.want) && !strings.Contains(err.Error(), "secret"), "%q: %v; want …%s…", tt.issuer, err, tt.want)
	}
}

const fuzzedIssuer = "https://issuer.test"

// published is a RoundTripper that responds like an issuer with one key.
type published struct{}

func (published) RoundTrip(r *http.Request) (*http.Response, error) {
	var response any = obj{"keys": []any{jwk("ed", edKey.Public())}}
	if strings.HasPrefix(r.URL.Path, "/.well-known/") {
		response = obj{"issuer": fuzzedIssuer, "jwks_uri": fuzzedIssuer + "/keys"}
	}
	body, err := json.Marshal(response)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
}

// FuzzAccessToken signs arbitrary headers and claims with the issuer's key. It checks that an
// accepted token is a valid access token of the issuer for this API, and that every error is an
// error of this package.
func FuzzAccessToken(f *testing.F) {
	v, err := New(Options{Issuer: fuzzedIssuer, Audience: audience, Transport: published{}, Clock: func() time.Time { return start }})
	assert.NilError(f, err)
	later := start.Add(time.Hour).Unix()
	good := string(must(json.Marshal(obj{"iss": fuzzedIssuer, "aud": audience, "sub": "jane", "exp": later, "groups": []string{"ops"}})))
	for _, header := range []string{
		`{"alg":"EdDSA","kid":"ed"}`, `{"alg":"EdDSA","kid":"ed","typ":"at+jwt"}`, `{"alg":"none"}`, `{"alg":"HS256","kid":"ed"}`, `{"alg":"eddsa","kid":"ed"}`,
		`{"alg":"EdDSA","kid":"../x","crit":["exp"],"jku":"http://evil.test"}`, `{"alg":"EdDSA","alg":"none"}`, `[]`, `{"alg":["EdDSA"]}`, `{"alg":"EdDSA","kid":5,"typ":7}`,
	} {
		f.Add([]byte(header), []byte(good))
	}
	for _, claims := range []string{
		`{}`, `null`, `[]`, strings.Replace(good, `"exp"`, `"EXP"`, 1), strings.Replace(good, `"aud"`, `"aud":"x","aud"`, 1), strings.Replace(good, "jane", "", 1),
		strings.Replace(good, `"jane"`, "5", 1), strings.Replace(good, `["ops"]`, `[["ops"]]`, 1), strings.Replace(good, `["ops"]`, `"ops"`, 1), strings.Replace(good, "ops", "\x00", 1),
		`{"exp":1e999}`, `{"exp":"soon"}`, `{"aud":{}}`, `{"nbf":-1e18}`, strings.Replace(good, `"exp"`, `"nbf":1e300,"exp"`, 1), strings.Replace(good, `"exp"`, `"nbf":9999999999,"NBF":1,"exp"`, 1), good + "x", strings.Replace(good, "jane", strings.Repeat("j", 5000), 1),
	} {
		f.Add([]byte(`{"alg":"EdDSA","kid":"ed"}`), []byte(claims))
	}
	encode := base64.RawURLEncoding.EncodeToString
	f.Fuzz(func(t *testing.T, header, claims []byte) {
		signed := encode(header) + "." + encode(claims)
		user, err := v.VerifyToken(t.Context(), signed+"."+encode(ed25519.Sign(edKey, []byte(signed))))
		if err != nil {
			invalid := new(identity.InvalidTokenError)
			assert.Check(t, errors.As(err, &invalid) || errors.Is(err, identity.ErrTokenExpired), "%q %q: %v", header, claims, err)
			return
		}
		var h, c map[string]any // member names are case-sensitive
		assert.Assert(t, json.Unmarshal(header, &h) == nil && json.Unmarshal(claims, &c) == nil, "%q %q is accepted", header, claims)
		notBefore, _ := c["nbf"].(float64)
		assert.Check(t, notBefore <= float64(start.Add(notBeforeLeeway).Unix()), "%q is accepted before its nbf", claims)
		list, _ := c["aud"].([]any)
		expiry, _ := c["exp"].(float64)
		if h["alg"] != "EdDSA" || c["iss"] != fuzzedIssuer || c["aud"] != audience && !slices.Contains(list, any(audience)) || expiry <= float64(start.Unix()) || expiry > lastSecond+1 {
			t.Errorf("%q %q is accepted", header, claims)
		}
		sub, _ := c["sub"].(string)
		assert.Check(t, user.ID == sub, "%q is the user %q", claims, user.ID)
	})
}
