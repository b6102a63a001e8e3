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

// Website signs people in for pages that a server serves. It keeps nothing of an attempt,
// so that another server can finish it. It is safe for concurrent use.
type Website struct {
	Client
	// Secret is the client's, or empty for a public client.
	Secret string
	// RedirectURL is where the issuer sends the browser back to. It is registered there.
	RedirectURL string
	// Endpoint returns where the issuer's pages are. Strangers can call it, by starting an attempt.
	Endpoint func(context.Context) (oauth2.Endpoint, error)
}

// Attempt is what the browser that signs in has to bring back. It proves that the response
// belongs to this browser: another person's response has another state, and a code that was
// stolen from another browser another verifier (PKCE).
type Attempt struct {
	State, Verifier string
}

// websiteTimeout limits how long a browser waits for the issuer.
const websiteTimeout = 10 * time.Second

// Start returns the issuer's page where the person signs in.
func (w *Website) Start(ctx context.Context) (page string, a Attempt, err error) {
	config, err := w.config(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return config.AuthCodeURL(a.State, w.parameters(oauth2.S256ChallengeOption(a.Verifier))...), a, nil
}

// Finish returns the access token for the issuer's response to an attempt. The error is
// ErrOtherAttempt, ErrRefused, or one of the issuer's or the network's. The token is not verified.
func (w *Website) Finish(ctx context.Context, a Attempt, response url.Values) (accessToken string, err error) {
	code, err := w.codeOf(response, a.State)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(withoutRedirects(ctx), websiteTimeout)
	defer cancel()
	config, err := w.config(ctx)
	if err != nil {
		return "", err
	}
	options := w.parameters(oauth2.VerifierOption(a.Verifier))
	tokens, err := config.Exchange(ctx, code, options...)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && w.Secret != "" && (refused.ErrorCode == "invalid_client" || refused.Response.StatusCode == http.StatusUnauthorized) {
		// The client may be registered for its secret in the form (RFC 6749, section 2.3.1).
		config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
		tokens, err = config.Exchange(ctx, code, options...)
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && w.Secret != "" { // strangers read what it says
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
