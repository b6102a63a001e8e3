package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
)

// Website signs people in for pages that a server serves. It keeps nothing of an attempt,
// so that another server can finish it. It is safe for concurrent use.
type Website struct {
	Client
	// Secret is the client's, or empty for a public client.
	Secret string
	// RedirectURL is where the issuer sends the browser back to. It is registered there.
	RedirectURL string
	// Clock is the time.
	Clock func() time.Time

	mu       sync.Mutex
	provider *oidc.Provider
	readAt   time.Time
}

// Attempt is what the browser that signs in has to bring back. It proves that the response
// belongs to this browser: another person's response has another state.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
}

// ErrOtherAttempt is the error of a response that is not for the attempt.
var ErrOtherAttempt = errors.New("the response is for another sign-in")

// websiteTimeout limits how long a browser waits for the issuer.
const websiteTimeout = 10 * time.Second

// endpointsFresh is how long the issuer's endpoints are not read again.
const endpointsFresh = 10 * time.Minute

// Start returns the issuer's page where the person signs in.
func (w *Website) Start(ctx context.Context) (page string, a Attempt, err error) {
	ctx, cancel := w.limit(ctx)
	defer cancel()
	provider, err := w.endpoints(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return w.oauth2Config(provider).AuthCodeURL(a.State, w.parameters(oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier))...), a, nil
}

// Finish returns the access token for the issuer's response to an attempt. The error is
// ErrOtherAttempt, ErrRefused, or one of the issuer's or the network's.
func (w *Website) Finish(ctx context.Context, a Attempt, response url.Values) (accessToken string, err error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(response.Get("state")), []byte(a.State)) != 1 || !sameIssuer(response, w.Issuer) {
		return "", ErrOtherAttempt
	}
	if response.Get("code") == "" {
		return "", issuerError(response.Get("error"), response.Get("error_description"), nil)
	}
	ctx, cancel := w.limit(ctx)
	defer cancel()
	provider, err := w.endpoints(ctx)
	if err != nil {
		return "", err
	}
	tokens, err := w.oauth2Config(provider).Exchange(ctx, response.Get("code"), w.parameters(oauth2.VerifierOption(a.Verifier))...)
	if err != nil {
		return "", explain(err)
	}
	idToken, _ := tokens.Extra("id_token").(string)
	verified, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: w.ID, Now: w.Clock}).Verify(ctx, idToken)
	if err != nil {
		return "", fmt.Errorf("the issuer's ID token: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(a.Nonce)) != 1 {
		return "", ErrOtherAttempt
	}
	return tokens.AccessToken, nil
}

func (w *Website) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return context.WithTimeout(oidc.ClientContext(ctx, client), websiteTimeout)
}

func (w *Website) oauth2Config(provider *oidc.Provider) *oauth2.Config {
	endpoint := provider.Endpoint()
	if w.Secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := w.Scopes
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		scopes = append([]string{oidc.ScopeOpenID}, scopes...)
	}
	return &oauth2.Config{ClientID: w.ID, ClientSecret: w.Secret, Endpoint: endpoint, RedirectURL: w.RedirectURL, Scopes: scopes}
}

// endpoints reads where the issuer's pages are, unless it has done so lately: strangers can
// start an attempt.
func (w *Website) endpoints(ctx context.Context) (*oidc.Provider, error) {
	w.mu.Lock()
	provider, now := w.provider, w.Clock()
	fresh := now.Before(w.readAt.Add(endpointsFresh))
	w.mu.Unlock()
	if provider != nil && fresh {
		return provider, nil
	}
	if err := oauth.CheckIssuer(w.Issuer); err != nil {
		return nil, fmt.Errorf("the issuer %s: %w", w.Issuer, err)
	}
	provider, err := oidc.NewProvider(ctx, w.Issuer)
	if err != nil {
		return nil, fmt.Errorf("the issuer %s: %w", w.Issuer, err)
	}
	w.mu.Lock()
	w.provider, w.readAt = provider, now
	w.mu.Unlock()
	return provider, nil
}
