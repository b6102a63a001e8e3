package serve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/serve"
)

// TestFullDisk checks that doctor fails if nothing can be written, and warns before that.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]string{0: serve.CheckFailed, 32 << 20: serve.CheckFailed, 512 << 20: serve.CheckWarning, 2 << 30: serve.CheckOK} {
		if got := serve.DescribeSpace(free, 1<<30); got.State != want {
			t.Errorf("%d bytes free: %+v, want %s", free, got, want)
		}
	}
}

// TestDoctor checks a healthy server's settings, and then one fault after another.
func TestDoctor(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	inbox := mailhostdtest.NewInbox(t)
	i := mailhostdtest.NewIssuer(t)
	s := mailhostdtest.Serve(t, database)
	healthy := append([]string{"--database", database, "--listen", strings.TrimPrefix(s.URL, "http://"), "--oauth-issuer", i.URL, "--oauth-audience", "x"}, inbox.Flags()...)

	open := filepath.Join(t.TempDir(), "open.db")
	mailhostdtest.InitializeIn(t, open)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	mailhostdtest.InitializeIn(t, damaged)
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
		{"configuration", nil, nil, "configuration", serve.CheckOK, "valid"},
		{"database", nil, nil, "database", serve.CheckOK, "1 account"},
		{"permissions", nil, nil, "permissions", serve.CheckOK, "closed to others"},
		{"a running server", nil, nil, "listen", serve.CheckOK, "something listens on"},
		{"mail", nil, nil, "smtp", serve.CheckOK, "accepts messages"},
		{"issuer", nil, nil, "oauth issuer", serve.CheckOK, "has 1 key"},
		{"no public URL", nil, []string{"--oauth-client-id", "cli"}, "oauth issuer", serve.CheckWarning, "set --public-url"},
		{"a public URL", nil, []string{"--oauth-client-id", "cli", "--public-url", "https://mail.example.com"}, "oauth issuer", serve.CheckOK, "has 1 key"},
		{"a misspelt variable", []string{"MAILHOSTD_LISTENN=x"}, nil, "configuration", serve.CheckWarning, "MAILHOSTD_LISTENN"},
		{"an invalid setting", nil, []string{"--shutdown-timeout=-1s"}, "configuration", serve.CheckFailed, "--shutdown-timeout"},
		{"no database", nil, []string{"--database", database + ".x"}, "database", serve.CheckWarning, "create it with mailhostd init"},
		{"a damaged page", nil, []string{"--database", damaged}, "database", serve.CheckFailed, "it is damaged; restore a backup"},
		{"no PostgreSQL", nil, []string{"--database", "postgres://u:secret@127.0.0.1:1/x"}, "database", serve.CheckFailed, "connection refused"},
		{"a password with @", nil, []string{"--database", "postgres://u:p@secret@127.0.0.1:1/x"}, "database", serve.CheckFailed, "percent-encode"},
		{"a password with #", nil, []string{"--database", "postgres://u:1#p@secret@127.0.0.1:1/x"}, "database", serve.CheckFailed, "percent-encode"},
		{"a password with /", nil, []string{"--database", "postgres://u:p@secret/x@127.0.0.1:1/x"}, "database", serve.CheckFailed, "percent-encode"},
		{"an open file", nil, []string{"--database", open}, "permissions", serve.CheckWarning, "chmod o="},
		{"no folder", nil, []string{"--database", filepath.Join(t.TempDir(), "none", "a.db")}, "permissions", serve.CheckFailed, "can't be written"},
		{"no mail server", nil, []string{"--smtp-url", "smtp://u:secret@127.0.0.1:1"}, "smtp", serve.CheckFailed, "connection refused"},
		{"no issuer", nil, []string{"--oauth-issuer", "http://127.0.0.1:1"}, "oauth issuer", serve.CheckFailed, "connection refused"},
		{"no certificate", nil, []string{"--tls-cert", "none.pem", "--tls-key", "none.pem"}, "tls", serve.CheckFailed, "none.pem"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := mailhostdtest.RunWith(t, tt.environ, append(append([]string{"doctor"}, healthy...), tt.args...)...)
			var results []serve.Check
			if err := json.Unmarshal([]byte(stdout), &results); err != nil {
				t.Fatalf("%s: %v", stdout, err)
			}
			for _, r := range results {
				if r.Name == tt.check && (r.State != tt.state || !strings.Contains(r.Detail, tt.detail)) {
					t.Errorf("%+v; want %s, …%s…", r, tt.state, tt.detail)
				}
			}
			want := cli.ExitOK
			if tt.state == serve.CheckFailed {
				want = cli.ExitFailure
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
