package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// TestConformance checks a file with many checkpoints. TestPlans runs the same in memory.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: slow, and similar to TestPlans")
	}
	storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, newPath(t), Options{checkpointFrames: 10}) })
}

func TestHistories(t *testing.T) {
	for _, rows := range []int{1, 2, 5, 40} {
		storetest.History(t, openStore(t, Memory, Options{blockRows: rows}), 300+rows)
	}
}

// TestOpenAgain checks that a reopened store has the same content, also at paths with
// characters that are special in a URI.
func TestOpenAgain(t *testing.T) {
	for _, name := range []string{"mailhost.db", "a b?c=d#e%41&f.db", "ü;'\".db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mustPopulate(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		s := openStore(t, path, Options{})
		if _, err := create(t.Context(), s, "ada"); err != nil {
			t.Error(err)
		}
		entries, err := filepath.Glob(filepath.Dir(path) + "/*.db")
		if err != nil || len(entries) != 1 || entries[0] != path {
			t.Errorf("files %q, error %v, want %q alone", entries, err, path)
		}
	}
}

func TestFilePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one, other := openStore(t, Memory, Options{}), openStore(t, Memory, Options{})
	mustPopulate(t, one)
	if err := other.View(t.Context(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		if len(accounts) > 0 {
			t.Error("a store in memory has the account of another store")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(one.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, error %v", left, err)
	}
}

// TestOpenErrors checks that an error names the path and says what is wrong.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	alter(t, foreign, `CREATE TABLE songs (title TEXT)`)
	versioned := filepath.Join(dir, "versioned")
	alter(t, versioned, `PRAGMA user_version = 1`)
	unreleased := filepath.Join(dir, "unreleased")
	alter(t, unreleased, `PRAGMA application_id = 0x4D481234`)

	for path, want := range map[string]string{
		"":                                  "is empty",
		dir:                                 "is a directory",
		filepath.Join(dir, "nowhere", "db"): "directory does not exist",
		filepath.Join(text, "db"):           "directory does not exist",
		text:                                "not an SQLite database",
		foreign:                             "another program",
		versioned:                           "another program",
		unreleased:                          "before the first release",
	} {
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			t.Errorf("Open(%q) succeeded", path)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want %q", path, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("Open created a directory")
	}
}

// alter executes a statement on a database file.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	if err := createFile(path); err != nil {
		t.Fatal(err)
	}
	s, err := connect(t.Context(), path, Options{}.toWrite())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.exec(statement), s.close()); err != nil {
		t.Fatal(err)
	}
}

// TestPragmas checks the settings on which durability and isolation depend.
func TestPragmas(t *testing.T) {
	s, err := Open(t.Context(), newPath(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustPopulate(t, s)
	pragma := func(s *session, name string) string {
		var value any
		rows, err := s.QueryContext(t.Context(), "PRAGMA "+name)
		if err == nil && rows.Next() {
			err = errors.Join(rows.Scan(&value), rows.Close())
		}
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(value)
	}
	if err := s.engine.Update(t.Context(), func(_ context.Context, q sqlstore.Querier) error {
		for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
			if got := pragma(q.(*transaction).session, name); got != want {
				t.Errorf("%s of the writer = %s, want %s", name, got, want)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM accounts`)
		return err
	}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a reader writes: %v", err)
	}
}

// TestConcurrentFirstOpen checks that several goroutines can open a new file at the same
// time.
func TestConcurrentFirstOpen(t *testing.T) {
	path := newPath(t)
	stores := make([]*Store, 8)
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() {
			var err error
			if stores[i], err = Open(t.Context(), path, Options{}); err != nil {
				t.Error(err)
			} else if err := populate(t.Context(), stores[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range stores {
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("Close = %v", err)
	}
	for _, err := range []error{
		s.Update(t.Context(), func(store.Tx) error { return nil }),
		s.View(t.Context(), func(store.Reader) error { return nil }),
		s.Ping(t.Context()),
	} {
		if err != ErrClosed {
			t.Errorf("error = %v, want ErrClosed", err)
		}
	}
}

func TestBackup(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	mustPopulate(t, s)
	if _, err := create(t.Context(), s, "ada"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "it's a copy.db")
	if err := s.View(t.Context(), func(store.Reader) error { return s.Backup(t.Context(), path) }); err != nil {
		t.Fatal(err)
	}
	if _, err := create(t.Context(), s, "eve"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("second backup = %v, want os.ErrExist", err)
	}
	restored := openStore(t, path, Options{})
	if got := addresses(t, restored); len(got) != 1 || got[0] != "ada" {
		t.Errorf("the backup has %q", got)
	}
	check(t, restored)
}
