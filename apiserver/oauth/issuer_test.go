package oauth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

var start = apitest.Start

const audience = "https://api.mailhost.test"

// Keys are generated once, because generating an RSA key is slow.
var (
	rsaKey     = must(rsa.GenerateKey(rand.Reader, 2048))
	otherRSA   = must(rsa.GenerateKey(rand.Reader, 2048))
	p256Key    = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	otherP256  = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	p384Key    = must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	edKey      = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	hmacSecret = bytes.Repeat([]byte{9}, 64)
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type obj = map[string]any

// with returns a copy of an object with changed members; a nil value removes a member.
func with(o obj, pairs ...any) obj {
	out := obj{}
	maps.Copy(out, o)
	for i := 0; i < len(pairs); i += 2 {
		if name := pairs[i].(string); pairs[i+1] == nil {
			delete(out, name)
		} else {
			out[name] = pairs[i+1]
		}
	}
	return out
}

// issuer is an authorization server for tests, with a verifier for its tokens.
type issuer struct {
	*Verifier
	t     *testing.T
	url   string
	clock *apitest.Clock
	log   *apitest.Log

	mu sync.Mutex
	// keys is the response to /keys, metadata the response to discovery.
	keys     any
	metadata obj
	// override, if not nil, handles every request.
	override http.HandlerFunc
	requests map[string]int
}

// newIssuer starts an issuer with the keys "rsa" and "p256".
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, requests: map[string]int{}, clock: new(apitest.Clock), log: apitest.NewLog()}
	i.publish(jwk("rsa", rsaKey.Public()), jwk("p256", p256Key.Public()))
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL
	i.metadata = obj{"issuer": i.url, "jwks_uri": i.url + "/keys"}
	i.Verifier = i.verifier(Options{})
	return i
}

func (i *issuer) verifier(o Options) *Verifier {
	i.t.Helper()
	if o.Issuer == "" {
		o.Issuer = i.url
	}
	o.Audience, o.Clock, o.Logger = audience, i.clock.Now, i.log.Logger()
	v, err := New(o)
	if err != nil {
		i.t.Fatal(err)
	}
	return v
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.requests[r.URL.Path]++
	responses := map[string]any{"/.well-known/openid-configuration": i.metadata, "/keys": i.keys}
	override := i.override
	i.mu.Unlock()
	if override != nil {
		override(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(responses[r.URL.Path])
}

// set changes the issuer while it serves requests.
func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) publish(keys ...any) { i.set(func() { i.keys = obj{"keys": keys} }) }

// fetches returns the number of discovery requests.
func (i *issuer) fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests["/.well-known/openid-configuration"]
}

func jwk(kid string, key any) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key, KeyID: kid, Use: "sig"}
}

// claims returns the claims of a valid token.
func (i *issuer) claims(pairs ...any) obj {
	return with(obj{
		"iss": i.url, "aud": audience, "sub": "jane", "client_id": "cli", "jti": "1",
		"iat": start.Unix(), "exp": start.Add(time.Hour).Unix(),
	}, pairs...)
}

// token returns a token signed with the key "rsa".
func (i *issuer) token(pairs ...any) string {
	return sign(i.t, jose.RS256, rsaKey, obj{"kid": "rsa", "typ": "at+jwt"}, i.claims(pairs...))
}

// sign returns a signed token. Claims of type string are signed as is.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header obj, claims any) string {
	t.Helper()
	o := (&jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}})
	for name, value := range header {
		o.ExtraHeaders[jose.HeaderKey(name)] = value
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	assert.NilError(t, err)
	payload, isText := claims.(string)
	if !isText {
		payload = string(must(json.Marshal(claims)))
	}
	signed, err := signer.Sign([]byte(payload))
	assert.NilError(t, err)
	return must(signed.CompactSerialize())
}
