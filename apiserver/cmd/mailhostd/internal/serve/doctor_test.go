package serve_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestDoctor checks cases that the transcript can't show: a mail server, an issuer, modes of files, damage.
func TestDoctor(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	inbox := mailhostdtest.NewInbox(t)
	i := mailhostdtest.NewIssuer(t)
	s := mailhostdtest.Serve(t, database)
	healthy := append([]string{"--database", database, "--listen", strings.TrimPrefix(s.URL, "http://"), "--oauth-issuer", i.URL, "--oauth-audience", "x"}, inbox.Flags()...)

	open := filepath.Join(t.TempDir(), "open.db")
	mailhostdtest.InitializeIn(t, open)
	assert.NilError(t, os.Chmod(open, 0o644))
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	mailhostdtest.InitializeIn(t, damaged)
	content, err := os.ReadFile(damaged)
	assert.NilError(t, err)
	clear(content[len(content)-9_000:]) // pages that no other check reads
	assert.NilError(t, os.WriteFile(damaged, content, 0o600))
	for _, tt := range []struct {
		name   string
		args   []string
		check  string
		state  string
		detail string
	}{
		{"mail", nil, "smtp", "ok", "accepts messages"},
		{"mail, with a name", []string{"--smtp-helo", "[192.0.2.1]"}, "smtp", "ok", "accepts messages"},
		{"mail, with a name that no mail server accepts", []string{"--smtp-helo", "localhost"}, "smtp", "failed", "--smtp-helo: name must have at least two labels"},
		{"mail, with a public URL", []string{"--public-url", "https://Mail.Example.com:8443/x"}, "smtp", "ok", "accepts messages"},
		{"issuer", nil, "oauth issuer", "ok", "has 1 key"},
		{"no public URL", []string{"--oauth-client-id", "cli"}, "oauth issuer", "warning", "set --public-url"},
		{"a public URL", []string{"--oauth-client-id", "cli", "--public-url", "https://mail.example.com"}, "oauth issuer", "ok", "has 1 key"},
		{"no address", []string{"--listen", "unix:/run/mailhostd.sock"}, "listen", "failed", "Unix sockets"},
		{"a damaged page", []string{"--database", damaged, "--listen", "0"}, "database", "failed", "it is damaged; restore a backup"},
		{"an open file", []string{"--database", open, "--listen", "0"}, "permissions", "warning", "chmod o="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := mailhostdtest.Run(t, append(append([]string{"doctor"}, healthy...), tt.args...)...)
			var results []struct{ Check, State, Detail string }
			assert.NilError(t, json.Unmarshal([]byte(stdout), &results), stdout)
			for _, r := range results {
				if r.Check == tt.check && (r.State != tt.state || !strings.Contains(r.Detail, tt.detail)) {
					t.Errorf("%+v; want %s, …%s…", r, tt.state, tt.detail)
				}
			}
			want := cli.ExitOK
			if tt.state == "failed" {
				want = cli.ExitFailure
			}
			assert.Check(t, code == want && !strings.Contains(stdout+stderr, "secret"), "exit code %d, stdout %s, stderr %s", code, stdout, stderr)
		})
	}
	for _, name := range []string{"[192.0.2.1]", "mail.example.com"} {
		assert.Check(t, is.Contains(inbox.Commands(), "EHLO "+name))
	}
	sent := inbox.Wait(0)
	assert.Check(t, len(sent) == 0, "doctor has sent %d messages", len(sent))
}

// TestDoctorOnPostgreSQL checks that an empty database is no failure, because serve would fill it, but
// one that serve can't write is.
func TestDoctorOnPostgreSQL(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	for database, want := range map[string]string{
		postgrestest.EmptyURL(t): `"warning",\n *"detail": "postgres://… is empty; create an account`,
		url:                      `"warning",\n *"detail": "postgres://… has no account yet`,
		url + "&default_transaction_read_only=on": `"failed",\n *"detail": ".*is a standby or read-only`,
	} {
		_, stdout, _ := mailhostdtest.Run(t, "doctor", "--listen", "0", "--database", database)
		assert.Check(t, is.Regexp(want, stdout))
	}
}
