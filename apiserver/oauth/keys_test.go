package oauth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// unavailable fails the test unless verification fails with an unavailable issuer.
func (i *issuer) unavailable(token string) {
	i.t.Helper()
	_, err := i.VerifyToken(i.t.Context(), token)
	if down, ok := errors.AsType[*identity.IssuerUnavailableError](err); !ok || down.RetryAfter != fetchEvery {
		i.t.Fatalf("%v; want that the issuer can't be reached", err)
	}
}

func (i *issuer) fail() {
	i.set(func() {
		i.override = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) }
	})
}

func (i *issuer) mend() { i.set(func() { i.override = nil }) }

func (i *issuer) wantFetches(want int) {
	i.t.Helper()
	if got := i.fetches(); got != want {
		i.t.Fatalf("the issuer received %d requests; want %d", got, want)
	}
}

func TestNoFetchBeforeTheFirstToken(t *testing.T) {
	i := newIssuer(t)
	i.rejects("abc", errMalformed)
	i.rejects(i.token("iss", "https://evil.test"), errIssuer)
	i.wantFetches(0)
}

func TestRotation(t *testing.T) {
	i := newIssuer(t)
	old := i.token()
	i.accepts(old)
	next := sign(t, jose.ES384, p384Key, obj{"kid": "next"}, i.claims())
	i.rejects(next, errSignature)
	i.publish(jwk("rsa", rsaKey.Public()), jwk("next", p384Key.Public()))
	i.accepts(next)
	i.accepts(old)
	i.wantFetches(3)

	// The issuer withdraws the old key without notice.
	i.publish(jwk("next", p384Key.Public()))
	i.clock.Advance(freshFor - time.Nanosecond)
	i.accepts(old)
	i.clock.Advance(time.Nanosecond)
	i.rejects(old, errSignature)
	i.accepts(next)
}

// TestRotationWithoutAKeyID checks that a new key may also sign a token without a kid.
func TestRotationWithoutAKeyID(t *testing.T) {
	i := newIssuer(t)
	token := sign(t, jose.RS256, otherRSA, obj{}, i.claims())
	i.rejects(token, errSignature)
	i.publish(jwk("", otherRSA.Public()))
	i.accepts(token)
}

func TestFloods(t *testing.T) {
	i := newIssuer(t)
	i.accepts(i.token())
	i.wantFetches(1)
	for range 100 { // the key is cached, so nothing is fetched
		i.rejects(sign(t, jose.ES256, otherP256, obj{"kid": "p256"}, i.claims()), errSignature)
	}
	i.wantFetches(1)
	for n := range 100 {
		i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": strconv.Itoa(n)}, i.claims()), errSignature)
	}
	i.wantFetches(fetchBurst)
	i.accepts(i.token())
	i.clock.Advance(fetchEvery)
	for range 3 {
		i.rejects(sign(t, jose.RS256, otherRSA, obj{}, i.claims()), errSignature)
	}
	i.wantFetches(fetchBurst + 1)
}

// TestRotationInAFlood checks that a new key is found even while many invalid tokens
// arrive.
func TestRotationInAFlood(t *testing.T) {
	i := newIssuer(t)
	i.accepts(i.token())
	next := sign(t, jose.ES384, p384Key, obj{"kid": "next"}, i.claims())
	for range 2 * fetchBurst {
		i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": "forged"}, i.claims()), errSignature)
	}
	i.publish(jwk("rsa", rsaKey.Public()), jwk("next", p384Key.Public()))
	i.rejects(next, errSignature)
	i.clock.Advance(fetchEvery)
	i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": "forged"}, i.claims()), errSignature) // uses the next fetch, which loads the new key
	i.accepts(next)
}

func TestIssuerDown(t *testing.T) {
	i := newIssuer(t)
	i.fail()
	for range 3 * fetchBurst {
		i.unavailable(i.token())
	}
	i.wantFetches(fetchBurst)
	i.rejects("abc", errMalformed)
	i.mend()
	i.unavailable(i.token())
	i.wantFetches(fetchBurst)
	i.clock.Advance(fetchEvery)
	i.accepts(i.token())
	log := i.log.String()
	assert.Check(t, strings.Count(log, "can't be fetched\"") == fetchBurst && strings.Count(log, "can be fetched again") == 1 && strings.Contains(log, "502 Bad Gateway"), "log:\n%s", log)
}

// TestIssuerDownLater checks that cached keys are used while the issuer is unavailable.
func TestIssuerDownLater(t *testing.T) {
	i := newIssuer(t)
	token := i.token("exp", start.Add(5*time.Hour).Unix())
	i.accepts(token)
	i.fail()
	i.clock.Advance(freshFor)
	for range 5 {
		i.accepts(token)
	}
	i.wantFetches(2)
	i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": "rsa"}, i.claims()), errSignature)
	i.unavailable(sign(t, jose.RS256, otherRSA, obj{"kid": "perhaps new"}, i.claims()))
	i.wantFetches(3)
	i.clock.Advance(retryAfterFailure)
	i.accepts(token)
	i.wantFetches(4)
	i.clock.Advance(trustedFor - freshFor - retryAfterFailure - 1)
	i.accepts(token)
	i.clock.Advance(1)
	i.unavailable(token)
	i.mend()
	i.clock.Advance(fetchEvery)
	i.accepts(token)
}

func TestSharedFetch(t *testing.T) {
	i := newIssuer(t)
	release := make(chan struct{})
	i.set(func() {
		i.override = func(w http.ResponseWriter, r *http.Request) {
			<-release
			i.mend()
			i.ServeHTTP(w, r)
		}
	})
	var all sync.WaitGroup
	token := i.token()
	for range 20 {
		all.Go(func() {
			_, err := i.VerifyToken(t.Context(), token)
			assert.Check(t, err)
		})
	}
	// A cancelled request does not cancel the fetch that other requests wait for.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := i.VerifyToken(ctx, token)
	assert.Check(t, errors.Is(err, context.Canceled), "cancelled: %v", err)
	close(release)
	all.Wait()
	if i.mu.Lock(); i.requests["/keys"] != 1 {
		t.Errorf("requests: %v", i.requests)
	}
	i.mu.Unlock()
}

// silent is an issuer that accepts connections and never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

func TestNoResponse(t *testing.T) {
	token := newIssuer(t).token("iss", "https://login.example.com")
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{Issuer: "https://login.example.com", Audience: audience, Transport: silent{}})
		assert.NilError(t, err)
		begun := time.Now()
		_, err = v.VerifyToken(t.Context(), token)
		_, ok := errors.AsType[*identity.IssuerUnavailableError](err)
		assert.Check(t, ok && time.Since(begun) == fetchTimeout, "after %s: %v", time.Since(begun), err)
	})
}

func TestResponsesOfTheIssuer(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	assert.NilError(t, err)
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	good := jwk("rsa", rsaKey.Public())
	for name, tt := range map[string]struct {
		change func(*issuer)
		want   string // a part of the log
	}{
		"another issuer":     {func(i *issuer) { i.metadata["issuer"] = i.url + "/" }, "did not match the issuer URL"},
		"keys in plain":      {func(i *issuer) { i.metadata["jwks_uri"] = "http://login.example.com/keys" }, "login.example.com is another"},
		"keys nowhere":       {func(i *issuer) { delete(i.metadata, "jwks_uri") }, "jwks_uri: it must be an https URL"},
		"keys in a file":     {func(i *issuer) { i.metadata["jwks_uri"] = "file:///etc/passwd" }, "jwks_uri: it must be an https URL"},
		"discovery no JSON":  {func(i *issuer) { i.override = text("<html>") }, "failed to decode provider discovery object"},
		"discovery too long": {func(i *issuer) { i.override = text(`{"issuer":"` + strings.Repeat("x", maxResponse) + `"}`) }, "request body too large"},
		"not found":          {func(i *issuer) { i.override = http.NotFound }, "404 Not Found"},
		"long page": {func(i *issuer) {
			i.override = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("x", 5000), 500) }
		}, "xxx"},
		"redirect": {func(i *issuer) {
			i.override = func(w http.ResponseWriter, r *http.Request) {
				i.mend()
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
			}
		}, "302 Found"},
		"no key":       {func(i *issuer) { i.keys = obj{"keys": []any{}} }, "no public key"},
		"no key set":   {func(i *issuer) { i.keys = []any{good} }, "not a JWK set"},
		"no such keys": {func(i *issuer) { i.metadata["jwks_uri"] = i.url + "/none" }, "no public key"},
		"only unusable keys": {func(i *issuer) {
			i.keys = obj{"keys": []any{
				obj{"kty": "oct", "kid": "rsa", "k": "c2VjcmV0"}, jwk("rsa", rsaKey), jwk("rsa", small.Public()),
				jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa", Use: "enc"}, obj{"kty": "AKP", "kid": "rsa"}, obj{"kty": "RSA"}, 5,
			}}
		}, "no public key"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			i.set(func() { tt.change(i) })
			i.unavailable(i.token())
			log := i.log.String()
			assert.Check(t, strings.Contains(log, tt.want) && len(log) <= 700, "log: %s; want …%s…", log, tt.want)
		})
	}
}

// TestKeysOfOtherUses checks that unusable keys do not prevent the use of others.
func TestKeysOfOtherUses(t *testing.T) {
	i := newIssuer(t)
	i.publish(obj{"kty": "oct", "kid": "rsa", "k": "c2VjcmV0"}, obj{"kty": "AKP", "kid": "new"}, obj{"kty": "RSA", "kid": "rsa"}, "text",
		jose.JSONWebKey{Key: otherRSA.Public(), KeyID: "enc", Use: "enc"},
		jose.JSONWebKey{Key: otherRSA.Public(), KeyID: "ps", Algorithm: "PS256"},
		jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"})
	i.accepts(i.token())
	i.accepts(sign(t, jose.PS256, otherRSA, obj{"kid": "ps"}, i.claims()))
	i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": "ps"}, i.claims()), errSignature) // a key for another algorithm
	i.rejects(sign(t, jose.RS256, otherRSA, obj{"kid": "enc"}, i.claims()), errSignature)
}
