package operate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	other := mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database)
	as := s.As(t, owner)
	as.Domain("example.com")
	as.Do(http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", "jane"), "X-Request-Id", "req-1").Want(http.StatusCreated)
	as.Do(http.MethodPatch, "/mailboxes/jane@example.com", `{"last_name":"a surname"}`).Want(http.StatusOK)
	as.Do(http.MethodPost, "/workspaces", "{\"name\":\"evil \\u20282026 line\"}").Want(http.StatusCreated)

	for _, tt := range []struct {
		args string
		want string // operations
	}{
		{"", "init-account init-account purchase-domains create-mailbox update-mailbox create-workspace"},
		{"--account-id " + strings.ToUpper(other.AccountID), "init-account"},
		{"--operation create-mailbox", "create-mailbox"},
		{"--operation delete-mailbox", ""},
		{"--subject owner", "purchase-domains create-mailbox update-mailbox create-workspace"},
		{"--object jane@example.com", "create-mailbox update-mailbox"},
		{"--object jane@example.com --limit 1", "update-mailbox"},
		{"--object jane", ""},
		{"--request-id req-1", "create-mailbox"},
		{"--since 1h", "init-account init-account purchase-domains create-mailbox update-mailbox create-workspace"},
		{"--since 2001-01-01T00:00:00+01:00 --until 1h", ""},
		{"--since 7d --operation create-mailbox", "create-mailbox"},
		{"--since 2001-01-01 --operation create-mailbox", "create-mailbox"},
		{"--until 1d", ""},
		{"--until 2001-01-01", ""},
		{"--until 2001-01-01T00:00:00Z", ""},
		{"--limit 2", "update-mailbox create-workspace"},
	} {
		var got []string
		for _, e := range mailhostdtest.Audit(t, database, strings.Fields(tt.args)...) {
			got = append(got, e.Operation)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
	e := mailhostdtest.Audit(t, database, "--operation", "update-mailbox")[0]
	if at, err := time.Parse(time.RFC3339, e.At); err != nil || time.Since(at).Abs() > time.Minute || e.ID == 0 || e.AccountID != owner.AccountID || e.RequestID == "" ||
		e.RemoteAddress != "127.0.0.1" || e.Subject.Type != vocab.SubjectServiceAccount || e.Subject.ID == "" || e.Subject.Name != "owner" ||
		len(e.Changes) != 1 || e.Changes[0].Action != "updated" || e.Changes[0].Type != "mailbox" || e.Changes[0].Name != "jane@example.com" ||
		len(e.Changes[0].Fields) != 1 || e.Changes[0].Fields[0] != "last_name" {
		t.Errorf("the entry is %+v", e)
	}
	_, stdout, _ := mailhostdtest.Run(t, "audit", "--database", database, "--format", "json")
	if strings.Contains(stdout, "null") || strings.Contains(stdout, "surname") || strings.Contains(stdout, owner.Token) {
		t.Errorf("a value is printed, or a null:\n%s", stdout)
	}
	if code := s.End(t); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestAuditOverHTTP checks that the log over HTTP is that of the database, also in several
// pages, and that the token needs the right to read it.
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
		if code, got, stderr := mailhostdtest.RunWith(t, environ, args...); code != cli.ExitOK || stderr != "" || got != want {
			t.Errorf("%s: exit code %d, stderr %s, stdout\n%s\nwant\n%s", flags, code, stderr, got, want)
		}
	}

	planner := mailhostdtest.RunJSON[mailhostdtest.Account](t, environ, "token", "create", "ci", "--plan-only")
	mailhostdtest.Fails(t, mailhostdtest.HTTPEnviron(s, planner), cli.ExitFailure, "lacks the capability audit_log.view", "audit")
	published := mailhostdtest.Serve(t, database, "--published-only")
	mailhostdtest.Fails(t, mailhostdtest.HTTPEnviron(published, owner), cli.ExitFailure, "which have no audit log", "audit")
}

// TestAuditEndsOverHTTP checks that a server whose pages never end is refused.
func TestAuditEndsOverHTTP(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entries int
		flags   string
		want    string
	}{
		"the same page again": {100, "", "that is not before 2026-03-14T15:00:00.000000Z, as requested"},
		"too late an entry":   {100, "--until 2026-03-14T15:00:00Z", "that is not before 2026-03-14T15:00:00.000000Z, as requested"},
		"too long a page":     {101, "--limit 100", "returned 101 entries of the audit log for a page of 100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests.Add(1) > 3 {
					http.Error(w, "no end", http.StatusBadRequest)
					return
				}
				entry := `{"id":1,"created_at":"2026-03-14T15:00:00.000000Z","operation":"create-mailbox","subject":{"type":"operator"},"changes":[]}`
				_, _ = io.WriteString(w, "["+strings.Repeat(entry+",", tt.entries-1)+entry+"]")
			}))
			t.Cleanup(hostile.Close)
			environ := []string{"MAILHOST_BASE_URL=" + hostile.URL, "MAILHOST_ACCOUNT_ID=11111111-1111-4111-8111-111111111111", "MAILHOST_TOKEN=t"}
			mailhostdtest.Fails(t, environ, cli.ExitFailure, tt.want, append([]string{"audit"}, strings.Fields(tt.flags)...)...)
		})
	}
}

func TestAuditText(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	as := mailhostdtest.Serve(t, database).As(t, owner)
	as.Domain("example.com")
	as.Do(http.MethodPost, "/workspaces", "{\"name\":\"evil \\u2028line\"}").Want(http.StatusCreated)
	as.Do(http.MethodPost, "/mailboxes/bulk", `{"domain":"example.com","items":[
		{"local_part":"a","first_name":"A","last_name":"B"},{"local_part":"b","first_name":"A","last_name":"B"},
		{"local_part":"c","first_name":"A","last_name":"B"},{"local_part":"d","first_name":"A","last_name":"B"}]}`).Want(http.StatusOK)
	as.Do(http.MethodPatch, "/mailboxes/a@example.com", `{"last_name":"C"}`).Want(http.StatusOK)
	code, stdout, stderr := mailhostdtest.Run(t, "audit", "--database", database)
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	header, rest, _ := strings.Cut(stdout, "\n")
	if want := "TIME ACCOUNT OPERATION BY REQUEST FROM CHANGES"; strings.Join(strings.Fields(header), " ") != want || strings.Index(header, "ACCOUNT") != strings.Index(rest, owner.AccountID) {
		t.Errorf("the header is %q, want %s:\n%s", header, want, stdout)
	}
	lines := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	at := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z  ` + owner.AccountID + `  `)
	for i, want := range []string{
		"operator", "created domain example.com; created dns_record example.com MX, example.com MX, example.com TXT and 2 more",
		`"created workspace evil \u2028line"`, "created mailbox a@example.com, b@example.com, c@example.com and 1 more",
		"updated mailbox a@example.com (last_name)",
	} {
		if len(lines) != 5 || !at.MatchString(lines[i]) || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d lacks %s:\n%s", i, want, stdout)
		}
		if i > 0 && (strings.Index(lines[i], "service_account owner  ") != strings.Index(lines[1], "service_account owner  ") ||
			strings.Index(lines[i], "127.0.0.1  ") != strings.Index(lines[1], "127.0.0.1  ")) {
			t.Errorf("line %d is not aligned:\n%s", i, stdout)
		}
	}
}

// TestReadingCreatesNothing checks that audit and backup neither create a missing
// database nor leave files behind.
func TestReadingCreatesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing, output, notes := filepath.Join(dir, "missing.db"), filepath.Join(dir, "copy.db"), filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notes, []byte("These are notes and no database, and long enough to have a header of one.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"audit"}, {"compact"}, {"backup", "--output", output}} {
		for database, want := range map[string]string{
			missing: "there is no database " + missing, filepath.Join(dir, "none", "a.db"): "there is no database " + dir, dir: dir + `": it is a directory`, notes: notes + ": it is not an SQLite database",
		} {
			mailhostdtest.Fails(t, nil, cli.ExitFailure, want, append(command, "--database", database)...)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

// TestAuditArchive checks that the archive has what the log loses, that a database has the same
// archive whatever its account, and that nothing is deleted that is not in a complete file.
func TestAuditArchive(t *testing.T) {
	t.Parallel()
	const old = "99999999-1111-4111-8111-111111111111" // in which nothing happened since
	database, _ := mailhostdtest.Initialize(t)
	db, err := sqlite.Open(t.Context(), database, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	taken, file := filepath.Join(dir, "taken"), filepath.Join(dir, "2025.jsonl")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(flags string) (code int, stdout, stderr string) {
		return mailhostdtest.Run(t, append([]string{"audit", "--database", database}, strings.Fields(flags)...)...)
	}
	for flags, want := range map[string]string{
		"--archive " + file:                                            "needs an --until that is at least an hour ago",
		"--archive " + file + " --until 30m":                           "needs an --until that is at least an hour ago",
		"--archive " + file + " --until 1d --limit 5":                  "so that the log has no gaps",
		"--archive " + file + " --until 1d --object x":                 "so that the log has no gaps",
		"--archive " + taken + " --until 1d":                           "exists already",
		"--archive " + filepath.Join(dir, "none", "a") + " --until 1d": "nothing was deleted",
	} {
		if code, _, stderr := run(flags); code == cli.ExitOK || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s; want %s", flags, code, stderr, want)
		}
	}
	_, want, _ := run("--format json --until 1d --account-id " + old)
	if code, stdout, stderr := run("--archive " + file + " --until 1d --account-id " + old); code != cli.ExitOK || !strings.Contains(stdout, "(2499 lines)") {
		t.Fatalf("exit code %d, %s, %s", code, stdout, stderr)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want || strings.Count(want, "\n") != 2499 {
		t.Errorf("the archive has %d bytes, %v; want %d", len(got), err, len(want))
	}
	if left := mailhostdtest.Audit(t, database); len(left) != 2 || left[0].AccountID != "another" || left[1].Operation != "init-account" {
		t.Errorf("the log has %+v", left)
	}
	size := func() int64 {
		info, err := os.Stat(database)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	large := size()
	if code, stdout, stderr := mailhostdtest.Run(t, "compact", "--database", database); code != cli.ExitOK || size() > large/2 {
		t.Errorf("exit code %d, %s, %s: %d bytes, before %d", code, stdout, stderr, size(), large)
	}
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "VACUUM FULL", "compact", "--database", "postgres://db/mail")
}
