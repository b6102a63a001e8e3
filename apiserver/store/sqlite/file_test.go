package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// TestDisplacedFile checks that a store refuses reads and updates while its open file is moved,
// removed or replaced, and contains everything once the path leads to the file again.
func TestDisplacedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be moved on Windows")
	}
	for _, tt := range []struct {
		name, want string
		displace   func(path string) error
	}{
		{"moved", "was removed or moved while it was open; put it back", func(string) error { return nil }},
		{"replaced", "was replaced by another file while it was open; put it back", func(path string) error {
			return os.WriteFile(path, []byte("new"), 0o600)
		}},
		{"unreadable", "not a directory", func(path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			away := filepath.Join(t.TempDir(), "away")
			path := newPath(t)
			s := openStore(t, path, Options{})
			mustPopulate(t, s)
			works(t, s, "ada")
			for range 2 {
				assert.NilError(t, errors.Join(os.Rename(path, away), tt.displace(path)))
				for range 2 {
					fails(t, s, tt.want)
					fails(t, s, filepath.Dir(path))
				}
				assert.Check(t, is.ErrorIs(s.View(t.Context(), func(store.Reader) error { return nil }), store.ErrUnavailable), "View")
				if tt.name == "unreadable" {
					assert.NilError(t, errors.Join(os.Remove(filepath.Dir(path)), os.Mkdir(filepath.Dir(path), 0o700)))
				}
				assert.NilError(t, os.Rename(away, path))
				if tt.name == "unreadable" {
					return // its log is lost
				}
				assert.Check(t, s.Ping(t.Context()))
				works(t, s, fmt.Sprint("eve", len(addresses(t, s))))
			}
			assert.Check(t, is.DeepEqual(addresses(t, s), []string{"ada", "eve1", "eve2"}), "mailboxes")
			check(t, s)
		})
	}
}

// TestFileMovedWithinGroup checks that a group commit fails if the file is moved during
// the group.
func TestFileMovedWithinGroup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be moved on Windows")
	}
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	m := newMailbox("ada")
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.Create(&m), os.Rename(path, path+".away"))
	})
	assert.Check(t, errors.Is(err, store.ErrUnavailable), "Update = %v", err)
	assert.NilError(t, os.Rename(path+".away", path))
	works(t, s, "eve")
	assert.Check(t, is.DeepEqual(addresses(t, s), []string{"eve"}), "mailboxes")
}

// TestReplacedFile closes a store after a backup replaced its file. It checks that both files are
// whole, and that the store leaves the log to a process that uses the other file.
func TestReplacedFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced on Windows")
	}
	path, away, backup := newPath(t), newPath(t), newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	works(t, s, "old")
	assert.NilError(t, BackupFile(t.Context(), path, backup))
	works(t, s, "late")
	assert.NilError(t, errors.Join(os.Rename(path, away), os.Rename(backup, path)))
	assert.Assert(t, is.ErrorIs(s.Ping(t.Context()), store.ErrUnavailable), "Ping")
	p := start(t, "write", path, "m")
	acknowledged := map[string]bool{}
	await := func() {
		for range 20 {
			if !p.out.Scan() {
				t.Fatal(p.out.Err())
			}
			acknowledged[p.out.Text()] = true
		}
	}
	await()
	fails(t, s, "was replaced")
	assert.Check(t, s.Close())
	await()
	assert.NilError(t, p.Process.Kill())
	_ = p.Wait() // killed
	old := openStore(t, away, Options{})
	assert.Check(t, is.DeepEqual(addresses(t, old), []string{"old", "late"}), "mailboxes")
	check(t, old)
	again := openStore(t, path, Options{})
	lost := missing(t, again, acknowledged)
	assert.Check(t, lost <= 0, "%d of %d acknowledged mailboxes are missing", lost, len(acknowledged))
	check(t, again)
}

// TestReplacedUnderLock replaces a file under an exclusive lock. It checks that a process that waits
// for the lock then uses the new file: writes to the old file would be lost, and the log at the path
// belongs to the new file.
func TestReplacedUnderLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced on Windows")
	}
	for _, readOnly := range []bool{false, true} {
		path, backup := newPath(t), newPath(t)
		s := openStore(t, path, Options{})
		mustPopulate(t, s)
		works(t, s, "old")
		assert.NilError(t, BackupFile(t.Context(), s.engine.path, backup))
		works(t, s, "late")
		assert.NilError(t, s.Close())
		lock, err := Open(t.Context(), path, Options{Exclusive: true})
		assert.NilError(t, err)
		// One only: in one process, connections to two files with one -wal file between them
		// would not see each other's locks.
		waiting := make(chan *sqlstore.Store)
		go func() {
			s, err := Open(t.Context(), path, Options{unsynced: true, ReadOnly: readOnly})
			assert.Check(t, err)
			waiting <- s
		}()
		waitUntilBusy(t, path)
		assert.NilError(t, errors.Join(os.RemoveAll(path+"-wal"), os.Rename(backup, path), lock.Close()))
		opened := <-waiting
		if opened == nil {
			continue
		}
		want := []string{"old"}
		assert.Check(t, is.DeepEqual(addresses(t, opened), want), "mailboxes")
		if !readOnly {
			works(t, opened, "new")
			want = append(want, "new")
		}
		assert.Check(t, opened.Close())
		again := openStore(t, path, Options{})
		assert.Check(t, is.DeepEqual(addresses(t, again), want), "mailboxes")
		check(t, again)
	}
}

// waitUntilBusy returns when an attempt to open a locked file has failed, so that earlier attempts
// have probably met the lock too.
func waitUntilBusy(t *testing.T, path string) {
	t.Helper()
	_, err := Open(t.Context(), path, Options{LockTimeout: time.Millisecond})
	assert.Check(t, isBusy(err), "a locked file was opened: %v", err)
}

// TestExclusive checks that Exclusive fails while another store has the file open, even an idle one;
// that nobody can open an exclusively opened file; and that a missing file is not created.
func TestExclusive(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if _, err := Open(t.Context(), path, Options{Exclusive: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was created")
	}
	other := openStore(t, path, Options{})
	storetest.FillRandomly(t, other, 1)
	if _, err := Open(t.Context(), path, Options{Exclusive: true}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a file in use: %v", err)
	}
	want := dump(t, other)
	assert.NilError(t, other.Close())
	alone, err := Open(t.Context(), path, Options{Exclusive: true})
	assert.NilError(t, err)
	for _, opts := range []Options{{LockTimeout: time.Millisecond}, {LockTimeout: time.Millisecond, ReadOnly: true}} {
		_, err := Open(t.Context(), path, opts)
		assert.Check(t, err != nil && strings.Contains(err.Error(), "another process has locked it"), "a locked file was opened: %v", err)
	}
	_, err = Open(t.Context(), path, Options{Exclusive: true})
	assert.Check(t, errors.Is(err, store.ErrInUse), "a locked file was locked: %v", err)
	failure := errors.New("failure")
	err = alone.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.Create(&store.Account{ID: "lost"}), failure)
	})
	assert.Check(t, errors.Is(err, failure), "Update = %v", err)
	assert.Check(t, alone.Update(t.Context(), func(tx store.Tx) error { return tx.Create(&store.Account{ID: "kept"}) }))
	assert.Check(t, errors.Join(alone.Close(), alone.Close()))
	err = alone.Ping(t.Context())
	assert.Check(t, err == store.ErrClosed, "Ping = %v", err)
	got := dump(t, openStore(t, path, Options{}))
	assert.Check(t, len(got["accounts"]) == len(want["accounts"])+1, "accounts %q, before %q", got["accounts"], want["accounts"])
	for _, changed := range []string{"accounts", "authorization_version"} {
		delete(got, changed)
		delete(want, changed)
	}
	assert.Check(t, maps.EqualFunc(got, want, slices.Equal), "the content has changed")
}

// TestEarlierHeader checks that a file opens with any value in the bits that version 0.1.0 left
// random, and that a migration keeps its content.
func TestEarlierHeader(t *testing.T) {
	for _, generation := range []uint32{0, 1, 1<<22 + 5, 1<<23 - 1} {
		path := newPath(t)
		s := openStore(t, path, Options{})
		mustPopulate(t, s)
		works(t, s, "ada")
		execute(t, s, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationMark<<16|generation&0xffff, generation<<8|uint32(len(storetest.Migrations(dialect.Migrations)))))
		assert.NilError(t, s.Close())
		for _, opts := range []Options{{}, {ReadOnly: true}, later(laterMigration)} {
			s := openStore(t, path, opts)
			assert.Check(t, is.DeepEqual(addresses(t, s), []string{"ada"}), "mailboxes")
			assert.Check(t, s.Close())
		}
		_, err := Open(t.Context(), path, Options{})
		assert.Check(t, errors.Is(err, store.ErrNewerSchema), "Open = %v", err)
	}
}

// TestOpenErrors checks that an error contains the path and the fault, that the file stays
// unchanged, and that no other file is created.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string]string{"text": strings.Repeat("this is no database\n", 100), "empty": "", "log-wal": "changes", "moved-wal": ""} {
		assert.NilError(t, os.WriteFile(path(name), []byte(content), 0o600))
	}
	alter(t, path("foreign"), `CREATE TABLE songs (title TEXT)`)
	alter(t, path("versioned"), `PRAGMA user_version = 1`)
	makeLater(t, path("newer"))
	older := later("no SQL")
	older.ReadOnly = true
	assert.NilError(t, openStore(t, path("older"), Options{}).Close())
	files := func() (all string) {
		entries, err := os.ReadDir(dir)
		assert.NilError(t, err)
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), "-shm") && (e.Name() == "log-wal" || !strings.HasSuffix(e.Name(), "-wal")) {
				all += e.Name() + readAll(t, path(e.Name()))
			}
		}
		return all
	}
	before := files()
	backUp := func(path string) error { return BackupFile(t.Context(), path, filepath.Join(dir, "backup")) }
	open := func(opts Options) func(string) error {
		return func(path string) error {
			s, err := Open(t.Context(), path, opts)
			if err == nil {
				err = errors.Join(errors.New("it was opened"), s.Close())
			}
			return err
		}
	}
	write, readOnly := open(Options{}), open(Options{ReadOnly: true})
	for _, tt := range []struct {
		path, want string
		do         []func(string) error
	}{
		{"", "the path is empty", []func(string) error{write, readOnly, backUp}},
		{dir, "is a directory", []func(string) error{write, readOnly, backUp}},
		{os.DevNull, "is not a regular file", []func(string) error{write, readOnly}},
		{path("nowhere/db"), "directory does not exist", []func(string) error{write}},
		{path("text/db"), "directory does not exist", []func(string) error{write}},
		{path("text"), "not an SQLite database", []func(string) error{write, readOnly, backUp}},
		{path("foreign"), "another program", []func(string) error{write, readOnly, backUp}},
		{path("versioned"), "another program", []func(string) error{write, readOnly}},
		{path("newer"), "newer version", []func(string) error{write, readOnly}},
		{path("older"), "older version", []func(string) error{open(older)}},
		{path("missing"), "no such database", []func(string) error{readOnly, backUp}},
		{path("empty"), "is empty", []func(string) error{readOnly, backUp}},
		{path("log"), "the -wal file beside it belongs to it", []func(string) error{write}},   // SQLite would delete it
		{path("moved"), "the -wal file beside it belongs to it", []func(string) error{write}}, // and would share it with a server
	} {
		for i, do := range tt.do {
			err := do(tt.path)
			assert.Check(t, err != nil && strings.Contains(err.Error(), tt.want) && strings.Contains(err.Error(), tt.path), "%d: %q: %v, want %q", i, tt.path, err, tt.want)
		}
	}
	assert.Check(t, files() == before, "a file was changed or created")
}
