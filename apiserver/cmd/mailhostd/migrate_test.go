package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrate checks that a database is not migrated while a server uses it, and that a server
// on the copy knows everything: mailboxes, tokens, and responses under an Idempotency-Key.
func TestMigrate(t *testing.T) {
	t.Parallel()
	source, owner := initialize(t)
	s := serve(t, source)
	as := s.as(t, owner)
	as.Domain("example.com")
	const key = "0a9d5c3e-8a5b-4a3e-9f2f-1c6d1e7b0a11"
	created := as.PostKeyed(key, "/mailboxes", mailbox("example.com", "ada")).Want(http.StatusCreated)
	target := filepath.Join(t.TempDir(), "target.db")

	code, stdout, stderr := run(t, "migrate", source, target)
	if code != exitFailure || stdout != "" || !strings.Contains(stderr, "SOURCE "+source+" is in use") {
		t.Errorf("with a server: exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused migration made the target: %v", err)
	}
	s.end(t)
	code, stdout, stderr = run(t, "migrate", source, target)
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, source+" was migrated to "+target+": ") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	_, sourceLog, _ := run(t, "audit", "--database", source)
	_, targetLog, _ := run(t, "audit", "--database", target)
	if sourceLog != targetLog || !strings.Contains(targetLog, "ada@example.com") {
		t.Errorf("the audit log was\n%s\nand is\n%s", sourceLog, targetLog)
	}
	s = serve(t, target)
	as = s.as(t, owner)
	replayed := as.PostKeyed(key, "/mailboxes", mailbox("example.com", "ada")).Want(http.StatusCreated)
	if !replayed.Replayed() || string(replayed.Raw) != string(created.Raw) {
		t.Errorf("the response was %s, and is %s", created, replayed)
	}
	as.CreateMailbox("example.com", "grace").Want(http.StatusCreated)
	s.end(t)
}

func TestMigrateErrors(t *testing.T) {
	t.Parallel()
	database, _ := initialize(t)
	other, _ := initialize(t)
	dir := t.TempDir()
	for i, tt := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, "<source> <target>"},
		{database + " :memory:", exitUsage, "in memory"},
		{":memory: " + filepath.Join(dir, "0.db"), exitUsage, "in memory"},
		{database + " " + database, exitFailure, "SOURCE and TARGET are the same file"},
		{database + " " + other, exitFailure, "nothing was migrated from " + database + " to " + other + ": the target has data already"},
		{database + " " + dir, exitFailure, "TARGET: the database can't be opened"},
		{filepath.Join(dir, "none.db") + " " + filepath.Join(dir, "5.db"), exitFailure, "SOURCE " + filepath.Join(dir, "none.db") + " does not exist"},
		{"mysql://u:secret@db/mail " + filepath.Join(dir, "6.db"), exitFailure, "this build can't open mysql://"},
		{database + " mysql://u:secret@db/mail", exitFailure, "this build can't open mysql://"},
	} {
		code, stdout, stderr := run(t, append([]string{"migrate"}, strings.Fields(tt.args)...)...)
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "secret") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, stdout %q, stderr\n%s", tt.args, code, stdout, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprint(i)+".db")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: made a target", tt.args)
		}
	}
}
