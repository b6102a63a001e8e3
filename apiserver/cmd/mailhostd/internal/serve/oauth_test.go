package serve_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestOAuthAccessTokens(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	var down atomic.Bool
	down.Store(true)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		issuer.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	issuer.SetIssuer(web.URL)
	token := func(audience string, expiry time.Time) string {
		return oidctest.SignIDToken(key, "k", oidc.RS256, fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"jane","roles":["ops"],"exp":%d}`, web.URL, audience, expiry.Unix()))
	}
	later := time.Now().Add(time.Hour)
	good := token("mailhost", later)

	// The server starts although the issuer is down.
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--oauth-issuer", web.URL, "--oauth-audience", "mailhost", "--oauth-groups-claim", "roles")
	s.Log.WaitFor(t, "no access token can be verified until the OAuth issuer's keys can be read; check --oauth-issuer", 1)
	as := func(token string) *apitest.Client {
		c := s.As(t, owner)
		c.Token = token
		return c
	}
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusServiceUnavailable)
	down.Store(false)
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusForbidden)
	as(owner.Token).GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView})
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	as(good).Do(http.MethodGet, "/domains", nil).Want(http.StatusForbidden)
	as(token("other", later)).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	as(token("mailhost", time.Now().Add(-time.Minute))).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	if log := s.Log.String(); strings.Contains(log, good) || !strings.Contains(log, "the OAuth issuer's keys can't be fetched") {
		t.Errorf("log:\n%s", log)
	}
}

// TestSignInNeedsAPublicURL checks the warning of a server that can't know where people reach
// it.
func TestSignInNeedsAPublicURL(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]bool{
		"":                                  false,
		"--oauth-client-id cli":             true,
		"--oauth-console-client-id console": true,
		"--oauth-client-id cli --public-url https://mail.example.com": false,
	} {
		args := append([]string{"--oauth-issuer", "http://127.0.0.1:1", "--oauth-audience", "mailhost"}, strings.Fields(flags)...)
		s := mailhostdtest.Serve(t, ":memory:", args...)
		if got := strings.Contains(s.Log.String(), "behind a TLS proxy, set --public-url"); got != want {
			t.Errorf("%q: a warning: %t, want %t\n%s", flags, got, want, s.Log)
		}
	}
}

func TestOAuthFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"--oauth-issuer https://login.example.com", "--oauth-audience: is required with --oauth-issuer"},
		{"--oauth-audience mailhost", "--oauth-audience: needs --oauth-issuer"},
		{"--oauth-issuer http://login.example.com --oauth-audience mailhost", "--oauth-issuer: it must be an https URL"},
		{"--oauth-issuer login.example.com --oauth-audience mailhost", "--oauth-issuer: it must be an https URL, for instance https://login.example.com"},
		{"--oauth-issuer https://u:secret@login.example.com --oauth-audience mailhost", "--oauth-issuer: an issuer's URL must not have a user"},
	} {
		code, stdout, stderr := mailhostdtest.Run(t, append([]string{"serve"}, strings.Fields(tt.args)...)...)
		if code != cli.ExitUsage || stdout != "" || !strings.HasPrefix(stderr, "mailhostd: serve: "+tt.want) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: exit code %d, stderr %q; want %s", tt.args, code, stderr, tt.want)
		}
	}
	code, stdout, _ := mailhostdtest.Run(t, "serve", "--help")
	for _, flag := range []string{"--oauth-issuer", "--oauth-audience", "--oauth-groups-claim", "$MAILHOSTD_OAUTH_ISSUER"} {
		if code != cli.ExitOK || !strings.Contains(stdout, flag) {
			t.Errorf("serve --help lacks %s:\n%s", flag, stdout)
		}
	}
}
