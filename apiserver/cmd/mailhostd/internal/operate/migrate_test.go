package operate_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestMigrate migrates a database to another file and to PostgreSQL, and from there back. It
// checks that this is refused while a server uses the source, and that a server on the copy
// knows everything: mailboxes, tokens, and responses under an Idempotency-Key.
func TestMigrate(t *testing.T) {
	t.Parallel()
	for name, newTarget := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "target.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, owner := mailhostdtest.Initialize(t)
			target, back := newTarget(t), filepath.Join(t.TempDir(), "back.db")
			s := mailhostdtest.Serve(t, source)
			as := s.As(t, owner)
			as.Domain("example.com")
			const key = "0a9d5c3e-8a5b-4a3e-9f2f-1c6d1e7b0a11"
			created := as.PostKeyed(key, "/mailboxes", mailhostdtest.Mailbox("example.com", "ada")).Want(http.StatusCreated)
			for _, way := range []struct{ source, target, address string }{{source, target, "grace"}, {target, back, "jean"}} {
				mailhostdtest.Fails(t, nil, cli.ExitFailure, "is in use", "migrate", way.source, way.target)
				s.End(t)
				code, stdout, stderr := mailhostdtest.Run(t, "migrate", way.source, way.target)
				if code != cli.ExitOK || stderr != "" || !strings.HasPrefix(stdout, cli.RedactDatabase(way.source)+" was migrated to "+cli.RedactDatabase(way.target)+": ") {
					t.Fatalf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
				}
				_, before, _ := mailhostdtest.Run(t, "audit", "--database", way.source)
				_, after, _ := mailhostdtest.Run(t, "audit", "--database", way.target)
				assert.Check(t, strings.Count(before, "\n") >= 4 && before == after, "the audit log was\n%s\nand is\n%s", before, after)
				s = mailhostdtest.Serve(t, way.target)
				as = s.As(t, owner)
				replayed := as.PostKeyed(key, "/mailboxes", mailhostdtest.Mailbox("example.com", "ada")).Want(http.StatusCreated)
				assert.Check(t, replayed.Replayed() && string(replayed.Raw) == string(created.Raw), "the response was %s, and is %s", created, replayed)
				as.CreateMailbox("example.com", way.address).Want(http.StatusCreated)
			}
			as.Get("/mailboxes").Is("total", 3)
		})
	}
}
