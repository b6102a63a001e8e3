package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// TestDoctor checks a healthy server's settings, and then one fault after another.
func TestDoctor(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	inbox := newMailbag(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	web := httptest.NewServer(issuer)
	t.Cleanup(web.Close)
	issuer.SetIssuer(web.URL)
	s := serve(t, database)
	healthy := append([]string{"--database", database, "--listen", strings.TrimPrefix(s.url, "http://"), "--oauth-issuer", web.URL, "--oauth-audience", "x"}, inbox.flags()...)

	open := filepath.Join(t.TempDir(), "open.db")
	initializeIn(t, open)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	initializeIn(t, damaged)
	content, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[len(content)-9_000:]) // pages that no other check reads
	if err := os.WriteFile(damaged, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		environ []string
		args    []string
		check   string
		state   string
		detail  string
	}{
		{"configuration", nil, nil, "configuration", checkOK, "valid"},
		{"database", nil, nil, "database", checkOK, "1 account"},
		{"permissions", nil, nil, "permissions", checkOK, "closed to others"},
		{"a running server", nil, nil, "listen", checkOK, "something listens on"},
		{"mail", nil, nil, "smtp", checkOK, "accepts messages"},
		{"issuer", nil, nil, "oauth issuer", checkOK, "has 1 key"},
		{"a misspelt variable", []string{"MAILHOSTD_LISTENN=x"}, nil, "configuration", checkWarning, "MAILHOSTD_LISTENN"},
		{"an invalid setting", nil, []string{"--shutdown-timeout=-1s"}, "configuration", checkFailed, "--shutdown-timeout"},
		{"no database", nil, []string{"--database", database + ".x"}, "database", checkWarning, "create it with mailhostd init"},
		{"a damaged page", nil, []string{"--database", damaged}, "database", checkFailed, "it is damaged; restore a backup"},
		{"no PostgreSQL", nil, []string{"--database", "postgres://u:secret@127.0.0.1:1/x"}, "database", checkFailed, "connection refused"},
		{"an open file", nil, []string{"--database", open}, "permissions", checkWarning, "chmod o="},
		{"no folder", nil, []string{"--database", filepath.Join(t.TempDir(), "none", "a.db")}, "permissions", checkFailed, "can't be written"},
		{"no mail server", nil, []string{"--smtp-url", "smtp://u:secret@127.0.0.1:1"}, "smtp", checkFailed, "connection refused"},
		{"no issuer", nil, []string{"--oauth-issuer", "http://127.0.0.1:1"}, "oauth issuer", checkFailed, "connection refused"},
		{"no certificate", nil, []string{"--tls-cert", "none.pem", "--tls-key", "none.pem"}, "tls", checkFailed, "none.pem"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := runWith(t, tt.environ, append(append([]string{"doctor"}, healthy...), tt.args...)...)
			var results []check
			if err := json.Unmarshal([]byte(stdout), &results); err != nil {
				t.Fatalf("%s: %v", stdout, err)
			}
			for _, r := range results {
				if r.Name == tt.check && (r.State != tt.state || !strings.Contains(r.Detail, tt.detail)) {
					t.Errorf("%+v; want %s, …%s…", r, tt.state, tt.detail)
				}
			}
			want := exitOK
			if tt.state == checkFailed {
				want = exitFailure
			}
			if code != want || strings.Contains(stdout+stderr, "secret") {
				t.Errorf("exit code %d, stdout %s, stderr %s", code, stdout, stderr)
			}
		})
	}
	if sent := inbox.Wait(0); len(sent) != 0 {
		t.Errorf("doctor has sent %d messages", len(sent))
	}
}
