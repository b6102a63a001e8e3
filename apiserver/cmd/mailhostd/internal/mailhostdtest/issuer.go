package mailhostdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"golang.org/x/oauth2"
	"gotest.tools/v3/assert"
)

// Issuer is an OAuth issuer with the single user jane. It checks the requests of its clients: cli, for
// mailhostd login, and console.
type Issuer struct {
	*oidctest.Server
	URL string
	key *ecdsa.PrivateKey

	mu sync.Mutex
	// Redirects are the redirect URIs of the client console.
	Redirects []string
	// Claims are set in access tokens.
	Claims map[string]any
	// Resource is the resource that each request must name to get a JWT as access token (RFC 8707).
	Resource string
	// Down makes every request fail.
	Down bool
	// Secret is the secret of the client console. SecretInForm refuses it in a header.
	Secret       string
	SecretInForm bool
	// Served counts requests by path, including failed ones.
	Served map[string]int
	// Refresh is the only valid refresh token.
	Refresh string
	// Grants are the grant types that returned a token.
	Grants   []string
	requests map[string]url.Values // to authorize, by code
	approved bool                  // of the device code
}

// NewIssuer starts an issuer.
func NewIssuer(t *testing.T) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	i := &Issuer{key: key, requests: map[string]url.Values{}, Served: map[string]int{}}
	i.Server = &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.ES256}}}
	mux := http.NewServeMux()
	mux.Handle("/", i.Server)
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /auth", i.authorize)
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"device_code":"dc","user_code":"ABCD-EFGH","verification_uri":"%s/activate","expires_in":60,"interval":1}`, i.URL)
	})
	mux.HandleFunc("POST /token", i.token)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		down := i.Down
		i.Served[r.URL.Path]++
		i.mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	i.URL = strings.Replace(web.URL, "127.0.0.1", "localhost", 1) // a site other than the servers'
	i.SetIssuer(i.URL)
	return i
}

// Set changes fields of the issuer while it serves requests.
func (i *Issuer) Set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":"%[1]s/auth","token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys",`+
		`"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],`+
		`"device_authorization_endpoint":"%[1]s/device","id_token_signing_alg_values_supported":["ES256"]}`, i.URL)
}

// authorize redirects the browser back as if jane were signed in at the issuer: at once to the client
// cli, and after a click to the client console.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	defer i.mu.Unlock()
	console := q.Get("client_id") == "console" && slices.Contains(i.Redirects, q.Get("redirect_uri"))
	cli := q.Get("client_id") == "cli" && strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:")
	if !cli && !console || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || !slices.Contains([]string{"openid mail", "openid mail offline_access"}, q.Get("scope")) {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	i.requests[code] = q
	back := q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.URL}}.Encode()
	if cli {
		http.Redirect(w, r, back, http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Log in</title><a href="%s">Log in as jane</a>`, html.EscapeString(back))
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	id, secret, inHeader := r.BasicAuth()
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%q,"error_description":%q}`, code, secret) // tests check that no program shows the secret
	}
	if !inHeader {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if id == "console" && (secret != i.Secret || secret != "" && inHeader == i.SecretInForm) {
		refuse("invalid_client")
		return
	}
	grant := r.FormValue("grant_type")
	var begun url.Values // nil for other grant types
	switch grant {
	case "authorization_code":
		var ok bool
		begun, ok = i.requests[r.FormValue("code")]
		if delete(i.requests, r.FormValue("code")); !ok || begun.Get("code_challenge") != oauth2.S256ChallengeFromVerifier(r.FormValue("code_verifier")) ||
			begun.Get("redirect_uri") != r.FormValue("redirect_uri") {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if r.FormValue("refresh_token") != i.Refresh {
			refuse("invalid_grant")
			return
		}
	default:
		if !i.approved {
			i.approved = true // for the next poll, as if jane had approved it
			refuse("authorization_pending")
			return
		}
	}
	i.Grants = append(i.Grants, grant)
	i.Refresh = rand.Text()
	tokens := map[string]any{"token_type": "Bearer", "expires_in": 3600, "refresh_token": i.Refresh}
	tokens["access_token"] = i.Token("mailhost", i.Claims)
	if i.Resource != "" && (r.FormValue("resource") != i.Resource || begun != nil && begun.Get("resource") != i.Resource) {
		tokens["access_token"] = rand.Text()
	}
	if strings.Contains(begun.Get("scope"), oidc.ScopeOfflineAccess) && begun.Get("prompt") != "consent" {
		delete(tokens, "refresh_token")
	}
	_ = json.NewEncoder(w).Encode(tokens)
}

// Token returns a token of jane for an audience, with added or changed claims.
func (i *Issuer) Token(audience string, changes map[string]any) string {
	claims := map[string]any{"iss": i.URL, "aud": audience, "sub": "jane", "exp": time.Now().Add(time.Hour).Unix(), "jti": rand.Text()}
	maps.Copy(claims, changes)
	text, _ := json.Marshal(claims)
	return oidctest.SignIDToken(i.key, "k", oidc.ES256, string(text))
}
