package operate_test

import (
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	_ "modernc.org/sqlite" // opens the copy independently of the program

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestBackupWhileServing checks that a backup created while clients write contains every change
// acknowledged before it started, and that a server can use it.
func TestBackupWhileServing(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	as := mailhostdtest.Serve(t, database).As(t, owner)
	as.Domain("example.com")

	var acknowledged []string
	write := func() {
		made := as.CreateMailbox("example.com", fmt.Sprintf("m%d", len(acknowledged))).Want(http.StatusCreated)
		acknowledged = append(acknowledged, made.Str("id"))
	}
	copies := map[string][]string{} // the mailboxes that each copy must contain
	for n := range 3 {
		for range 25 {
			write()
		}
		output := filepath.Join(t.TempDir(), fmt.Sprintf("copy %d.db", n))
		copies[output] = slices.Clone(acknowledged)
		var code int
		var stdout, stderr string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			code, stdout, stderr = mailhostdtest.Run(t, "backup", "--database", database, "--output", output)
		}()
		for running := true; running; {
			select {
			case <-ended:
				running = false
			default:
				write()
			}
		}
		info, err := os.Stat(output)
		if code != cli.ExitOK || stderr != "" || err != nil || stdout != fmt.Sprintf("%s was backed up to %s: %d bytes\n", database, output, info.Size()) {
			t.Errorf("exit code %d, error %v, stdout %q, stderr %q", code, err, stdout, stderr)
		} else if runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("the copy has mode %v", info.Mode())
		}
	}
	for output, ids := range copies {
		checkCopy(t, output, owner, ids)
	}
}

func checkCopy(t *testing.T, path string, owner mailhostdtest.Account, ids []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	assert.NilError(t, err)
	var finding string
	err = db.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&finding)
	if err = errors.Join(err, db.Close()); err != nil || finding != "ok" {
		t.Errorf("the integrity check of %s: %s, error %v", path, finding, err)
	}
	s := mailhostdtest.Serve(t, path)
	as := s.As(t, owner)
	for _, id := range ids {
		as.Get("/mailboxes/"+id).Want(http.StatusOK).Is("id", id) // acknowledged before the backup
	}
	assert.Check(t, len(ids) != 0, "nothing was acknowledged")
	s.End(t)
}

// TestRestoreTwice checks that restores within one second keep each replaced database.
func TestRestoreTwice(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup)
	assert.Assert(t, code == cli.ExitOK, stderr)
	kept := map[string]bool{}
	for range 4 {
		report := mailhostdtest.RunJSON[struct{ Previous string }](t, nil, "restore", backup, "--database", database, "--yes")
		_, err := os.Stat(report.Previous)
		assert.Check(t, err == nil && !kept[report.Previous], "%s, %v", report.Previous, err)
		kept[report.Previous] = true
	}
}

// TestRestoreDamaged checks that --force restores over a database that can be opened, but not compared.
func TestRestoreDamaged(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"accounts", "service_accounts"} {
		database, owner := mailhostdtest.Initialize(t)
		backup := filepath.Join(t.TempDir(), "backup.db")
		if code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup); code != cli.ExitOK {
			t.Fatal(stderr)
		}
		db, err := sql.Open("sqlite", database)
		assert.NilError(t, err)
		var page, size int64
		err = db.QueryRowContext(t.Context(), `SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = ?`, table).Scan(&page, &size)
		assert.NilError(t, errors.Join(err, db.Close()))
		file, err := os.OpenFile(database, os.O_WRONLY, 0)
		assert.NilError(t, err)
		_, err = file.WriteAt(make([]byte, size), (page-1)*size)
		assert.NilError(t, errors.Join(err, file.Close()))

		code, stdout, stderr := mailhostdtest.Run(t, "restore", backup, "--database", database, "--yes")
		assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "add --force"), "exit code %d, stdout %q, stderr %q", code, stdout, stderr)
		code, stdout, stderr = mailhostdtest.Run(t, "restore", backup, "--database", database, "--yes", "--force")
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, `"unreadable"`), "exit code %d, stdout %q, stderr %q", code, stdout, stderr)
		mailhostdtest.Serve(t, database).As(t, owner).Get("/mailboxes").Is("total", 0)
		code, stdout, stderr = mailhostdtest.Run(t, "restore", backup, "--database", database, "--dry-run")
		assert.Check(t, code == cli.ExitOK, "a dry run, which only reads: exit code %d, stdout %q, stderr %q", code, stdout, stderr)
		packed, err := os.Open("../../../../../internal/examples/testdata/releases/v0.1.0/mailhost.db.gz")
		assert.NilError(t, err)
		unpacked, err := gzip.NewReader(packed)
		assert.NilError(t, err)
		content, err := io.ReadAll(unpacked)
		assert.NilError(t, errors.Join(err, packed.Close()))
		database = filepath.Join(t.TempDir(), "mailhost.db")
		assert.NilError(t, os.WriteFile(database, content, 0o600))
		code, stdout, stderr = mailhostdtest.Run(t, "restore", backup, "--database", database, "--dry-run", "--force")
		assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "use the version of mailhostd"), "exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestRestoreWithoutTrigger checks that a backup that lacks a trigger is refused, as it is by the other commands.
func TestRestoreWithoutTrigger(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	db, err := sql.Open("sqlite", backup)
	assert.NilError(t, err)
	_, err = db.ExecContext(t.Context(), `DROP TRIGGER authorizations_updated`)
	assert.NilError(t, errors.Join(err, db.Close()))
	before, err := os.ReadFile(backup)
	assert.NilError(t, err)
	for _, args := range [][]string{
		{"restore", backup, "--database", database, "--yes"},
		{"restore", backup, "--database", database, "--yes", "--force"},
		{"migrate", backup, filepath.Join(t.TempDir(), "target.db")},
		{"doctor", "--database", backup},
		{"serve", "--database", backup, "--listen", "127.0.0.1:0"},
	} {
		code, stdout, stderr := mailhostdtest.Run(t, args...)
		for _, want := range []string{backup, "authorizations_updated", "is missing", "CREATE TRIGGER"} {
			assert.Check(t, code != cli.ExitOK && strings.Contains(stdout+stderr, want), "%s: exit code %d, stdout %q, stderr %q; want %q", args[0], code, stdout, stderr, want)
		}
	}
	after, err := os.ReadFile(backup)
	assert.Check(t, err == nil && string(after) == string(before), "the backup was changed")
}

// TestMigrate migrates a database to another file and to PostgreSQL, and back. It checks that a
// migration is refused while a server uses a file, and that a server on the copy has all data:
// mailboxes, tokens, and responses under an Idempotency-Key.
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
				if cli.Scheme(way.source) == "" {
					mailhostdtest.Fails(t, nil, cli.ExitFailure, "is in use", "migrate", way.source, way.target)
				}
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
