package sqlite

import (
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
	for _, name := range []string{"ada", "eve"} { // while another writes
		if _, err := create(t.Context(), s, name); err != nil {
			t.Fatal(err)
		}
	}
	if got := addresses(t, r); len(got) != 2 {
		t.Errorf("it reads %q", got)
	}
	if err := r.Update(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Update = %v, want ErrReadOnly", err)
	}
	if err := errors.Join(r.Ping(t.Context()), r.Close()); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyChangesNothing checks that a file that can't be read is neither
// made nor migrated.
func TestReadOnlyChangesNothing(t *testing.T) {
	dir := t.TempDir()
	older := filepath.Join(dir, "older")
	if err := openStore(t, older, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, older, `PRAGMA user_version = 1`)
	newer := filepath.Join(dir, "newer")
	if err := openStore(t, newer, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, newer, `PRAGMA user_version = 211`)
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	before := readAll(t, older, newer, text, empty)
	for path, want := range map[string]string{
		older: "older version", newer: "newer version", text: "not an SQLite database", dir: "is a directory", missing: "no such database", empty: "is empty",
	} {
		_, err := Open(t.Context(), path, Options{ReadOnly: true})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want %q", path, err, want)
		}
	}
	if after := readAll(t, older, newer, text, empty); after != before {
		t.Error("a file is not what it was")
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file is made")
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

// TestBackupFileOfOlderSchema checks that the copy is what the original was, so
// that one can go back.
func TestBackupFileOfOlderSchema(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db")
	if err := openStore(t, from, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1", "211"} {
		alter(t, from, `PRAGMA user_version = `+version)
		if err := BackupFile(t.Context(), from, to+version); err != nil {
			t.Fatal(err)
		}
		session, err := connect(t.Context(), to+version, file{path: to + version}.readOnly(0))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		err = session.conn.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&got)
		if err = errors.Join(err, session.close()); err != nil || got != version {
			t.Errorf("version %s, error %v, want %s", got, err, version)
		}
	}
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
			t.Fatalf("%s leaves a file behind", from)
		}
	}
	if err := BackupFile(t.Context(), good, filepath.Join(dir, "nowhere", "to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no directory: %v", err)
	}
}
