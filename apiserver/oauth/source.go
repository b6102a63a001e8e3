package oauth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	// maxAnswer bounds an answer of the issuer, in bytes.
	maxAnswer = 1 << 20
	// maxKeys bounds the work for a token that does not name its key.
	maxKeys = 64
	// minRSABits is the size of an RSA key that may sign (RFC 7518, section 3.3).
	minRSABits = 2048
)

// source is where the keys of an issuer come from.
type source struct {
	issuer string
	client *http.Client
}

func newSource(issuer string, transport http.RoundTripper) source {
	return source{issuer: issuer, client: &http.Client{
		Transport: boundedTransport{transport},
		// An issuer answers at its own place: what it redirects to may be anybody's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// fetch returns the issuer's keys by OpenID Connect Discovery.
func (s source) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	var metadata struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	if err := checkURL(metadata.KeysURL); err != nil {
		return nil, fmt.Errorf("discovery: jwks_uri: %w", err)
	}
	keys, err := s.fetchKeys(ctx, metadata.KeysURL)
	if err != nil {
		return nil, fmt.Errorf("key set %s: %w", metadata.KeysURL, err)
	}
	return keys, nil
}

func (s source) fetchKeys(ctx context.Context, keysURL string) ([]jose.JSONWebKey, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, keysURL, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answers %s", answer.Status)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return parseKeys(body)
}

// parseKeys returns the keys of a JWK set that can verify a token. Others in it
// are no fault (RFC 7517, section 5).
func parseKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("not a JWK set: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it holds %d keys; at most %d are accepted", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && verifies(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it holds no public key that can verify a signature")
	}
	return keys, nil
}

// verifies reports whether a key is a public one for signatures.
func verifies(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	public, isRSA := key.Key.(*rsa.PublicKey)
	return !isRSA || public.N.BitLen() >= minRSABits
}

// checkIssuer returns why a URL can't be an issuer's (OpenID Connect Discovery,
// section 3).
func checkIssuer(s string) error {
	if u, err := url.Parse(s); err == nil && (u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "") {
		return errors.New("an issuer's URL has no user, query or fragment")
	}
	return checkURL(s)
}

// checkURL returns why nothing is fetched from a URL. Whoever can change what
// comes from there can sign in as anybody.
func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("it must be an https URL, for instance https://login.example.com")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return fmt.Errorf("it must be an https URL: plain http is for this machine alone, and %s is another", u.Host)
	}
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// boundedTransport bounds the answers of another transport.
type boundedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}
