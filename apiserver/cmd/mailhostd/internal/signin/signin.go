// Package signin signs a person in at an OAuth 2.0 issuer.
//
// For programs on the person's machine, Client gets the tokens and Store stores them. The person signs
// in with a browser on the same machine (authorization code with PKCE on a loopback address, RFC 8252
// and RFC 7636) or on another one (device authorization, RFC 8628). For a website, Website gets an
// access token (OpenID Connect Core, section 3.1).
package signin

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
)

// Client is a client of an issuer. It has no secret, because every user of the program could read one.
type Client struct {
	// API is the URL of the API for which the tokens are, or empty if unknown. It is not sent.
	API string `json:"api,omitempty"`
	// Issuer is the issuer's URL, as in the iss claim of its tokens.
	Issuer string `json:"issuer"`
	ID     string `json:"client_id"`
	// Scopes are requested from the issuer; empty: openid.
	Scopes []string `json:"scopes,omitempty"`
	// Parameters are sent in each request to the issuer. Some issuers return an access token for an API
	// only if a parameter names it: resource (RFC 8707), or Auth0's audience.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// ownParameters are the parameters that this package sends, and those that can replace them (RFC 9101).
var ownParameters = []string{
	"client_id", "client_secret", "code", "code_challenge", "code_challenge_method", "code_verifier", "grant_type", "nonce", "redirect_uri",
	"refresh_token", "request", "request_uri", "response_type", "scope", "state",
}

// CheckParameters returns an error for parameters that Client.Parameters must not contain.
func CheckParameters(parameters map[string]string) error {
	for name := range parameters {
		if slices.Contains(ownParameters, name) {
			return fmt.Errorf("the parameter %s can't be chosen; choose others, such as resource", name)
		}
	}
	return nil
}

func (c Client) parameters(more ...oauth2.AuthCodeOption) []oauth2.AuthCodeOption {
	var options []oauth2.AuthCodeOption
	for name, value := range c.Parameters {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return append(options, more...)
}

// WellKnownPath is the path of an API's published sign-in metadata (RFC 9728).
const WellKnownPath = "/.well-known/oauth-protected-resource"

// Metadata is the published document.
type Metadata struct {
	Resource               string   `json:"resource"`
	AuthorizationServers   []string `json:"authorization_servers"`
	BearerMethodsSupported []string `json:"bearer_methods_supported"`
	ScopesSupported        []string `json:"scopes_supported,omitempty"`
	// ClientID is the client for a command line. RFC 9728 defines no field for it.
	ClientID   string            `json:"mailhost_client_id,omitempty"`
	Parameters map[string]string `json:"mailhost_parameters,omitempty"`
}

const (
	// maxDocument limits the metadata document, in bytes.
	maxDocument = 1 << 20
	// timeout limits each request.
	timeout = 30 * time.Second
)

// Discover reads the client for sign-in from an API. The metadata must be for the API at baseURL,
// because one API must not make people sign in for another (RFC 9728, section 3.3).
func Discover(ctx context.Context, baseURL string) (Client, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(baseURL, "/")+WellKnownPath, nil)
	if err != nil {
		return Client{}, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return Client{}, err
	}
	defer resp.Body.Close()
	var m Metadata
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return Client{}, fmt.Errorf("%s accepts no OAuth tokens, or does not say of which issuer; use the token of a service account, or name --issuer and --client-id", baseURL)
	case resp.StatusCode != http.StatusOK:
		return Client{}, fmt.Errorf("%s: status %s", r.URL, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxDocument)).Decode(&m); err != nil {
		return Client{}, fmt.Errorf("%s: %w", r.URL, err)
	}
	if strings.TrimRight(m.Resource, "/") != strings.TrimRight(baseURL, "/") {
		return Client{}, fmt.Errorf("%s says that it is the API at %.200q; use that URL if it is the one that you mean, or have the operator set mailhostd serve --public-url %s", r.URL, m.Resource, strings.TrimRight(baseURL, "/"))
	}
	if len(m.AuthorizationServers) == 0 {
		return Client{}, fmt.Errorf("%s names no issuer", r.URL)
	}
	if err := CheckParameters(m.Parameters); err != nil {
		return Client{}, fmt.Errorf("%s: %w", r.URL, err)
	}
	return Client{Issuer: m.AuthorizationServers[0], ID: m.ClientID, Scopes: m.ScopesSupported, Parameters: m.Parameters}, nil
}

// CheckTarget returns an error if the metadata of the API at baseURL requests a token for another API:
// otherwise the API could get a person's token for the other one (RFC 8707, section 3). A scope with a slash
// can name an API too, for instance at Entra ID: an API's own scopes are mere words, or below its URL.
func (c Client) CheckTarget(baseURL string) error {
	base := strings.TrimRight(baseURL, "/")
	isOwn := func(target string) bool { return target == "" || target == base || strings.HasPrefix(target, base+"/") }
	for _, name := range []string{"resource", "audience"} {
		if target := c.Parameters[name]; !isOwn(target) {
			return fmt.Errorf("%s asks for a token for another API, %s=%.200q; if you trust it with such a token, give that as --parameter", base, name, target)
		}
	}
	for scope := range strings.FieldsSeq(strings.Join(c.Scopes, " ")) { // issuers split scopes at spaces
		if strings.Contains(scope, "/") && !isOwn(scope) {
			return fmt.Errorf("%s asks for a token for another API, by the scope %.200q; if you trust it with such a token, give all scopes as --scope", base, scope)
		}
	}
	return nil
}

// config returns the client's configuration for an issuer with these endpoints. It validates the
// endpoints: a browser opens one, and the others receive codes and tokens.
func (c Client) config(e oauth2.Endpoint) (*oauth2.Config, error) {
	for _, one := range []struct{ name, url string }{
		{"authorization_endpoint", e.AuthURL}, {"token_endpoint", e.TokenURL}, {"device_authorization_endpoint", e.DeviceAuthURL},
	} {
		if one.url == "" && one.name == "device_authorization_endpoint" {
			continue // optional for issuers
		}
		if err := oauth.CheckURL(one.url); err != nil {
			return nil, fmt.Errorf("the issuer %s: %s %.200q: %w", c.Issuer, one.name, one.url, err)
		}
	}
	e.AuthStyle = oauth2.AuthStyleInParams // for a client without a secret
	scopes := c.Scopes
	if len(scopes) == 0 {
		scopes = []string{oidc.ScopeOpenID}
	}
	return &oauth2.Config{ClientID: c.ID, Endpoint: e, Scopes: scopes}, nil
}

// discover reads the issuer's endpoints by OpenID Connect Discovery.
func (c Client) discover(ctx context.Context) (*oauth2.Config, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := oauth.CheckIssuer(c.Issuer)
	if err == nil {
		var provider *oidc.Provider
		if provider, err = oidc.NewProvider(ctx, c.Issuer); err == nil {
			return c.config(provider.Endpoint())
		}
	}
	return nil, fmt.Errorf("the issuer %s: %w", c.Issuer, err)
}

// withoutRedirects returns a context for requests to an issuer that must not follow redirects to another site.
func withoutRedirects(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
}

// Refresh returns new tokens for a refresh token.
func (c Client) Refresh(ctx context.Context, refreshToken string) (*oauth2.Token, error) {
	ctx = withoutRedirects(ctx)
	config, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	// A TokenSource sends no parameters. An empty code counts as omitted (RFC 6749, section 3.2).
	token, err := config.Exchange(ctx, "", c.parameters(oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", refreshToken))...)
	return token, explain(err)
}

// Device signs in with a browser on any machine. show prints the page to open and the code to enter
// there. complete is the URL of the page with the code, or empty.
func (c Client) Device(ctx context.Context, show func(page, code, complete string)) (*oauth2.Token, error) {
	ctx = withoutRedirects(ctx)
	config, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	if config.Endpoint.DeviceAuthURL == "" {
		return nil, fmt.Errorf("the issuer %s has no device authorization; sign in without --device", c.Issuer)
	}
	device, err := config.DeviceAuth(ctx, c.parameters()...)
	if err != nil {
		return nil, explain(err)
	}
	show(device.VerificationURI, device.UserCode, device.VerificationURIComplete)
	token, err := config.DeviceAccessToken(ctx, device, c.parameters()...)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, errors.New("the code has expired; sign in again")
	}
	return token, explain(err)
}

// explain returns an error of the issuer's token endpoint in the issuer's words.
func explain(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	return issuerError(refused.ErrorCode, refused.ErrorDescription, refused.Response)
}

// ErrRefused is wrapped by the error of an issuer that refuses a sign-in.
var ErrRefused = errors.New("the issuer refuses")

func issuerError(code, description string, resp *http.Response) error {
	switch {
	case code == "" && resp != nil:
		return fmt.Errorf("the issuer responds with %s", resp.Status)
	case description == "":
		return fmt.Errorf("%w: %.200q", ErrRefused, code)
	}
	return fmt.Errorf("%w: %.200q (%.500q)", ErrRefused, code, description)
}

// ErrOtherAttempt is returned for a response to another attempt.
var ErrOtherAttempt = errors.New("the response is for another sign-in")

// codeOf returns the code in the issuer's response to the attempt with the state.
func (c Client) codeOf(response url.Values, state string) (string, error) {
	issuer := response.Get("iss") // optional (RFC 9207)
	switch {
	case state == "" || subtle.ConstantTimeCompare([]byte(response.Get("state")), []byte(state)) != 1 || issuer != "" && issuer != c.Issuer:
		return "", ErrOtherAttempt
	case response.Get("code") == "":
		return "", issuerError(response.Get("error"), response.Get("error_description"), nil)
	}
	return response.Get("code"), nil
}
