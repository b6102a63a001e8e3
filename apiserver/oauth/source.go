package oauth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"
)

const (
	// maxResponse limits the issuer's response bodies, in bytes.
	maxResponse = 1 << 20
	// minRSABits is the minimum size of an RSA key (RFC 7518, section 3.3).
	minRSABits = 2048
)

// read finds the issuer's endpoints by OpenID Connect Discovery, and fetches its keys.
func (v *Verifier) read(ctx context.Context) (keys []jose.JSONWebKey, endpoint oauth2.Endpoint, err error) {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, v.client), v.options.Issuer)
	if err != nil {
		return nil, endpoint, fmt.Errorf("discovery: %w", err)
	}
	var metadata struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, endpoint, fmt.Errorf("discovery: %w", err)
	}
	if err := CheckURL(metadata.KeysURL); err != nil {
		return nil, endpoint, fmt.Errorf("discovery: jwks_uri: %w", err)
	}
	if keys, err = v.readKeys(ctx, metadata.KeysURL); err != nil {
		return nil, endpoint, fmt.Errorf("key set %s: %w", metadata.KeysURL, err)
	}
	return keys, provider.Endpoint(), nil
}

// readKeys returns the keys in a JWK set that can verify a token. It ignores other keys (RFC 7517,
// section 5).
func (v *Verifier) readKeys(ctx context.Context, keysURL string) (keys []jose.JSONWebKey, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, keysURL, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := v.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("unexpected status %s", resp.Status)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("not a JWK set: %w", err)
	}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && canVerify(key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no public key that can verify a signature")
	}
	return keys, nil
}

// canVerify reports whether a key is a public key for signatures.
func canVerify(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	public, isRSA := key.Key.(*rsa.PublicKey)
	return !isRSA || public.N.BitLen() >= minRSABits
}

// CheckIssuer validates the URL of an issuer (OpenID Connect Discovery, section 3).
func CheckIssuer(s string) error {
	if u, err := url.Parse(s); err == nil && (u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "") {
		return errors.New("an issuer's URL must not have a user, a query or a fragment")
	}
	return CheckURL(s)
}

// CheckURL validates a URL of an issuer's endpoint. It requires https, because an attacker who can
// change the response can sign in as anybody.
func CheckURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("it must be an https URL, for instance https://login.example.com")
	}
	address, _ := netip.ParseAddr(u.Hostname()) // the zero address is no loopback address
	if u.Scheme == "http" && u.Hostname() != "localhost" && !address.IsLoopback() {
		return fmt.Errorf("it must be an https URL: plain http is only allowed for this machine, and %s is another one", u.Host)
	}
	return nil
}

// limitedTransport limits the size of response bodies.
type limitedTransport struct{ http.RoundTripper }

func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponse)
	}
	return resp, err
}
