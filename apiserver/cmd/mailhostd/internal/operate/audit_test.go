package operate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestTranscript checks the output, and the refused command lines.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/operate.txt") }

// TestAuditOverHTTP checks that the log over HTTP equals the database's, also in several pages, and that
// the token requires the right to read it.
func TestAuditOverHTTP(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database)
	as := s.As(t, owner)
	as.Domain("example.com")
	as.Do(http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", "jane"), "X-Request-Id", "req-1").Want(http.StatusCreated)
	for n := range 210 {
		as.Patch("/mailboxes/jane@example.com", map[string]any{"last_name": strconv.Itoa(n)}).Want(http.StatusOK)
	}
	environ := mailhostdtest.HTTPEnviron(s, owner)
	for _, flags := range []string{
		"", "--format text", "--limit 1", "--limit 100", "--limit 101", "--limit 200", "--until 1h", "--since 1h --limit 5", "--operation create-mailbox", "--operation update-mailbox --limit 150",
		"--subject owner --object example.com", "--object jane", "--request-id req-1", "--since 2001-01-01T00:00:00+01:00 --until 2999-01-01 --limit 3",
	} {
		args := append([]string{"audit", "--format", "json"}, strings.Fields(flags)...)
		_, want, _ := mailhostdtest.Run(t, append(args, "--database", database, "--account-id", owner.AccountID)...)
		code, got, stderr := mailhostdtest.RunWith(t, environ, args...)
		assert.Check(t, code == cli.ExitOK && stderr == "" && got == want, "%s: exit code %d, stderr %s, stdout\n%s\nwant\n%s", flags, code, stderr, got, want)
	}

	planner := mailhostdtest.RunJSON[mailhostdtest.Account](t, environ, "token", "create", "ci", "--plan-only")
	mailhostdtest.Fails(t, mailhostdtest.HTTPEnviron(s, planner), cli.ExitFailure, "lacks the capability audit_log.view", "audit")
	published := mailhostdtest.Serve(t, database, "--published-only")
	mailhostdtest.Fails(t, mailhostdtest.HTTPEnviron(published, owner), cli.ExitFailure, "does not have this operation: it offers only the published ones, or its URL is wrong", "audit")
}

// TestAuditEndsOverHTTP checks that a server with endless pages is refused.
func TestAuditEndsOverHTTP(t *testing.T) {
	t.Parallel()
	const hostileTime = "2026-03-14T15:00:00.000000Z"
	for name, flags := range map[string]string{"the same page again": "", "too late an entry": "--until 2026-03-14T15:00:00Z"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests.Add(1) > 3 {
					http.Error(w, "no end", http.StatusBadRequest)
					return
				}
				entry := `{"id":1,"created_at":"` + hostileTime + `","operation":"create-mailbox","subject":{"type":"operator"},"changes":[]}`
				_, _ = io.WriteString(w, "["+strings.Repeat(entry+",", 99)+entry+"]")
			}))
			t.Cleanup(hostile.Close)
			environ := []string{"MAILHOST_BASE_URL=" + hostile.URL, "MAILHOST_ACCOUNT_ID=11111111-1111-4111-8111-111111111111", "MAILHOST_TOKEN=t"}
			mailhostdtest.Fails(t, environ, cli.ExitFailure, "that is not before "+hostileTime+", as requested", append([]string{"audit"}, strings.Fields(flags)...)...)
		})
	}
}

// TestAuditArchive checks that the archive contains the deleted entries, also for several accounts, that
// only entries in a complete file are deleted, and that no number of an entry is reused.
func TestAuditArchive(t *testing.T) {
	t.Parallel()
	const old = "99999999-1111-4111-8111-111111111111" // without later entries
	database, _ := mailhostdtest.Initialize(t)
	db, err := sqlite.Open(t.Context(), database, sqlite.Options{})
	assert.NilError(t, err)
	before := time.Now().AddDate(-1, 0, 0)
	if err := db.Update(t.Context(), func(tx store.Tx) error {
		for n := range 2500 { // more than one transaction deletes
			account := old
			if n == 7 {
				account = "another"
			}
			if err := tx.AddAuditEntry(&store.AuditEntry{AccountID: account, CreatedAt: before.Add(time.Duration(n)), Operation: "create-mailbox", RequestID: strconv.Itoa(n)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, db.Close())
	file := filepath.Join(t.TempDir(), "2025.jsonl")
	run := func(flags string) (code int, stdout, stderr string) {
		return mailhostdtest.Run(t, append([]string{"audit", "--database", database}, strings.Fields(flags)...)...)
	}
	_, want, _ := run("--format json --until 1d --account-id " + old)
	code, stdout, stderr := run("--archive " + file + " --until 1d --account-id " + old)
	assert.Assert(t, code == cli.ExitOK && strings.Contains(stdout, "(2499 lines); deleted from the database: 2498 entries\n"), "exit code %d, %s, %s", code, stdout, stderr)
	got, err := os.ReadFile(file)
	assert.Check(t, err == nil && string(got) == want && strings.Count(want, "\n") == 2499, "the archive has %d bytes, %v; want %d", len(got), err, len(want))
	mailhostdtest.InitializeIn(t, database)
	_, newest, _ := run("--limit 1 --format json")
	assert.Check(t, strings.HasPrefix(newest, `{"id":2502,`), "an entry after that: %s", newest)
	_, left, _ := run("")
	assert.Check(t, strings.Count(left, "\n") == 5 && strings.Contains(left, " another ") && strings.Contains(left, " init-account "), "the log has\n%s", left)
	size := func() int64 {
		info, err := os.Stat(database)
		assert.NilError(t, err)
		return info.Size()
	}
	large := size()
	code, stdout, stderr = mailhostdtest.Run(t, "compact", "--database", database)
	assert.Check(t, code == cli.ExitOK && size() <= large/2, "exit code %d, %s, %s: %d bytes, before %d", code, stdout, stderr, size(), large)
}
