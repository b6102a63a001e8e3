package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
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
	Clock       func() time.Time

	mu        sync.Mutex
	provider  *oidc.Provider
	readError error
	readAt    time.Time
}

// Attempt is what the browser that signs in has to bring back. It proves that the response
// belongs to this browser: another person's response has another state, and a code that was
// stolen from another browser another verifier (PKCE).
type Attempt struct {
	State, Verifier string
}

// websiteTimeout limits how long a browser waits for the issuer.
const websiteTimeout = 10 * time.Second

const (
	// endpointsFresh is how long the issuer's endpoints are not read again.
	endpointsFresh = 10 * time.Minute
	// failureFresh is the same for an attempt to read them that has failed.
	failureFresh = 5 * time.Second
)

// Start returns the issuer's page where the person signs in.
func (w *Website) Start(ctx context.Context) (page string, a Attempt, err error) {
	ctx, cancel := w.limit(ctx)
	defer cancel()
	provider, err := w.endpoints(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return w.oauth2Config(provider).AuthCodeURL(a.State, w.parameters(oauth2.S256ChallengeOption(a.Verifier))...), a, nil
}

// Finish returns the access token for the issuer's response to an attempt. The error is
// ErrOtherAttempt, ErrRefused, or one of the issuer's or the network's. The token is not verified.
func (w *Website) Finish(ctx context.Context, a Attempt, response url.Values) (accessToken string, err error) {
	code, err := w.codeOf(response, a.State)
	if err != nil {
		return "", err
	}
	ctx, cancel := w.limit(ctx)
	defer cancel()
	provider, err := w.endpoints(ctx)
	if err != nil {
		return "", err
	}
	config, options := w.oauth2Config(provider), w.parameters(oauth2.VerifierOption(a.Verifier))
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

func (w *Website) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(withoutRedirects(ctx), websiteTimeout)
}

func (w *Website) oauth2Config(provider *oidc.Provider) *oauth2.Config {
	endpoint := provider.Endpoint()
	if endpoint.AuthStyle = oauth2.AuthStyleInHeader; w.Secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := w.Scopes
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		scopes = append([]string{oidc.ScopeOpenID}, scopes...)
	}
	return &oauth2.Config{ClientID: w.ID, ClientSecret: w.Secret, Endpoint: endpoint, RedirectURL: w.RedirectURL, Scopes: scopes}
}

// endpoints returns where the issuer's pages are. Strangers can start an attempt, so that
// all of them share one request and its result, also a failure.
func (w *Website) endpoints(ctx context.Context) (*oidc.Provider, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := endpointsFresh
	if w.readError != nil {
		fresh = failureFresh
	}
	if age := w.Clock().Sub(w.readAt); 0 <= age && age < fresh {
		return w.provider, w.readError
	}
	ctx, cancel := w.limit(context.WithoutCancel(ctx)) // others wait for the result
	defer cancel()
	w.provider, w.readError = discover(ctx, w.Issuer)
	w.readAt = w.Clock()
	return w.provider, w.readError
}
