package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

func TestReadOnly(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	r := openStore(t, path, Options{ReadOnly: true})
	for _, name := range []string{"ada", "eve"} { // while another store writes
		if _, err := create(t.Context(), s, name); err != nil {
			t.Fatal(err)
		}
	}
	if got := addresses(t, r); len(got) != 2 {
		t.Errorf("the read-only store has %q", got)
	}
	if err := r.Update(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Update = %v, want ErrReadOnly", err)
	}
	if err := errors.Join(r.Ping(t.Context()), r.Close()); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyChangesNothing checks that a read-only open neither creates nor migrates a
// file.
func TestReadOnlyChangesNothing(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer")
	makeLater(t, newer)
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	before := readAll(t, newer, text, empty)
	for path, want := range map[string]string{
		newer: "newer version", text: "not an SQLite database", dir: "is a directory", missing: "no such database", empty: "is empty",
	} {
		_, err := Open(t.Context(), path, Options{ReadOnly: true})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want %q", path, err, want)
		}
	}
	if after := readAll(t, newer, text, empty); after != before {
		t.Error("a read-only open changed a file")
	}
	older := newPath(t)
	if err := openStore(t, older, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	opts := later(t, "no SQL")
	opts.ReadOnly = true
	if _, err := Open(t.Context(), older, opts); err == nil || !strings.Contains(err.Error(), "older version") {
		t.Errorf("a file of an older version: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a read-only open created a file")
	}
}

func readAll(t *testing.T, paths ...string) (all string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all += string(data)
	}
	return all
}

func TestBackupFile(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db")
	s := openStore(t, from, Options{})
	mustPopulate(t, s)
	if _, err := create(t.Context(), s, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := BackupFile(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if err := BackupFile(t.Context(), from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup = %v, want fs.ErrExist", err)
	}
	restored := openStore(t, to, Options{})
	if got := addresses(t, restored); len(got) != 1 || got[0] != "ada" {
		t.Errorf("the backup has %q", got)
	}
	check(t, restored)
}

// TestBackupFileIsNotMigrated checks that the copy keeps the schema version of the
// original, even one that this program does not support.
func TestBackupFileIsNotMigrated(t *testing.T) {
	from, to := newPath(t), newPath(t)
	makeLater(t, from)
	if err := BackupFile(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), to, Options{}); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("Open = %v, want ErrNewerSchema", err)
	}
	openStore(t, to, later(t, laterMigration))
}

// TestBackupFileErrors checks that a failed backup leaves nothing behind.
func TestBackupFileErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	good, text, empty, broken := path("good"), path("text"), path("empty"), path("broken")
	s := openStore(t, good, Options{})
	mustPopulate(t, s)
	fill(t, s, 2000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data := readAll(t, good)
	for name, content := range map[string]string{
		text: strings.Repeat("this is no database\n", 100), empty: "", broken: data[:len(data)/2] + strings.Repeat("\xff", len(data)/2),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := path("to")
	for from, want := range map[string]string{
		text: "not an SQLite database", empty: "is empty", dir: "is a directory", path("missing"): "no such database", broken: "malformed",
	} {
		if err := BackupFile(t.Context(), from, to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("BackupFile(%q) = %v, want %q", from, err, want)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s left a file behind", from)
		}
	}
	if err := BackupFile(t.Context(), good, filepath.Join(dir, "nowhere", "to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing directory: %v", err)
	}
}

// expiring is a context that expires after the first question for its error.
type expiring struct {
	context.Context
	asked bool
}

func (c *expiring) Err() error {
	if c.asked {
		return context.DeadlineExceeded
	}
	c.asked = true
	return nil
}

// TestCheckPages checks that damage is found, and that a check which takes too long is not
// taken for damage.
func TestCheckPages(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	fill(t, s, 500)
	if err := errors.Join(CheckPages(t.Context(), path), s.Close()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CheckPages(&expiring{Context: ended}, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	content := []byte(readAll(t, path))
	clear(content[len(content)/2:])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckPages(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+": it is damaged; restore a backup") {
		t.Error(err)
	}
}
