package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// callbackPath is the path to which the issuer redirects the browser. It is registered at the issuer as
// http://127.0.0.1/callback, with any port (RFC 8252, section 7.3).
const callbackPath = "/callback"

// callback is the issuer's response.
type callback struct {
	code string
	err  error
}

// Browser signs in with a browser on this machine. open shows the issuer's page to the person. port is
// on the loopback address; 0 means any free port.
func (c Client) Browser(ctx context.Context, port int, open func(page string)) (*oauth2.Token, error) {
	ctx = withoutRedirects(ctx)
	config, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("can't wait for the browser: %w", err)
	}
	config.RedirectURL = "http://" + listener.Addr().String() + callbackPath
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	received := make(chan callback, 1)
	server := &http.Server{Handler: c.callbackHandler(state, received), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer func() { // let the browser load the page
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
	}()

	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	if slices.Contains(c.Scopes, oidc.ScopeOfflineAccess) && c.Parameters["prompt"] == "" {
		// Without consent, an issuer ignores the scope (OpenID Connect Core, section 11).
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	open(config.AuthCodeURL(state, c.parameters(options...)...))
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case back := <-received:
		if back.err != nil {
			return nil, back.err
		}
		token, err := config.Exchange(ctx, back.code, c.parameters(oauth2.VerifierOption(verifier))...)
		return token, explain(err)
	}
}

// callbackHandler receives the first response for this sign-in. It ignores a request with another state,
// which is not from the issuer.
func (c Client) callbackHandler(state string, received chan<- callback) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		code, err := c.codeOf(r.URL.Query(), state)
		if errors.Is(err, ErrOtherAttempt) {
			http.Error(w, "This page belongs to another sign-in. Start again in the terminal.", http.StatusBadRequest)
			return
		}
		select {
		case received <- callback{code, err}:
		default: // the page was reloaded
		}
		if err != nil {
			http.Error(w, "You are not signed in. The terminal says why.", http.StatusForbidden)
			return
		}
		fmt.Fprintln(w, "You are signed in. Close this page and go back to the terminal.")
	})
	return mux
}
