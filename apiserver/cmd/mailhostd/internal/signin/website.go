package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Website signs people in for the pages of a server. It stores no attempts, so that another server can
// finish one. It is safe for concurrent use.
type Website struct {
	Client
	// Secret is the client's secret, or empty for a public client.
	Secret string
	// RedirectURL is the URL to which the issuer redirects the browser. It is registered at the issuer.
	RedirectURL string
	// Endpoint returns the issuer's endpoints. Anyone can trigger a call by starting an attempt.
	Endpoint func(context.Context) (oauth2.Endpoint, error)
}

// Attempt is data that the browser must return. It proves that the response belongs to this browser: another
// person's response contains another state, and a code stolen from another browser requires another verifier (PKCE).
type Attempt struct {
	State, Verifier string
}

// websiteTimeout limits the time that a browser waits for the issuer.
const websiteTimeout = 10 * time.Second

// Start returns the issuer's sign-in page.
func (w *Website) Start(ctx context.Context) (page string, a Attempt, err error) {
	config, err := w.config(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return config.AuthCodeURL(a.State, w.parameters(oauth2.S256ChallengeOption(a.Verifier))...), a, nil
}

// Code returns the code in the issuer's response to an attempt. The error is ErrOtherAttempt, ErrRefused, or
// another error of the issuer.
func (w *Website) Code(a Attempt, response url.Values) (string, error) {
	return w.codeOf(response, a.State)
}

// Exchange calls the issuer, and returns the access token for the code of an attempt, without verifying it. The
// error is ErrRefused, or another error of the issuer or the network.
func (w *Website) Exchange(ctx context.Context, a Attempt, code string) (accessToken string, err error) {
	ctx, cancel := context.WithTimeout(withoutRedirects(ctx), websiteTimeout)
	defer cancel()
	config, err := w.config(ctx)
	if err != nil {
		return "", err
	}
	options := w.parameters(oauth2.VerifierOption(a.Verifier))
	tokens, err := config.Exchange(ctx, code, options...)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && w.Secret != "" && (refused.ErrorCode == "invalid_client" || refused.Response.StatusCode == http.StatusUnauthorized) {
		// The issuer may require the secret in the form (RFC 6749, section 2.3.1).
		config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
		tokens, err = config.Exchange(ctx, code, options...)
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && w.Secret != "" { // the page shows the description to anyone
		refused.ErrorDescription = strings.NewReplacer(w.Secret, "[redacted]", url.QueryEscape(w.Secret), "[redacted]").Replace(refused.ErrorDescription)
	}
	if err != nil {
		return "", explain(err)
	}
	return tokens.AccessToken, nil
}

func (w *Website) config(ctx context.Context) (*oauth2.Config, error) {
	endpoint, err := w.Endpoint(ctx)
	if err != nil {
		return nil, err
	}
	config, err := w.Client.config(endpoint)
	if err != nil {
		return nil, err
	}
	config.RedirectURL = w.RedirectURL
	if w.Secret != "" {
		config.ClientSecret, config.Endpoint.AuthStyle = w.Secret, oauth2.AuthStyleInHeader
	}
	return config, nil
}
