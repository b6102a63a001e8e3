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

// TestDoctor checks what the transcript can't show: a mail server, an issuer, modes of files, damage.
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
		name   string
		args   []string
		check  string
		state  string
		detail string
	}{
		{"mail", nil, "smtp", serve.CheckOK, "accepts messages"},
		{"issuer", nil, "oauth issuer", serve.CheckOK, "has 1 key"},
		{"no public URL", []string{"--oauth-client-id", "cli"}, "oauth issuer", serve.CheckWarning, "set --public-url"},
		{"a public URL", []string{"--oauth-client-id", "cli", "--public-url", "https://mail.example.com"}, "oauth issuer", serve.CheckOK, "has 1 key"},
		{"a damaged page", []string{"--database", damaged}, "database", serve.CheckFailed, "it is damaged; restore a backup"},
		{"an open file", []string{"--database", open}, "permissions", serve.CheckWarning, "chmod o="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := mailhostdtest.Run(t, append(append([]string{"doctor"}, healthy...), tt.args...)...)
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
