package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// TestConformance runs the tests of every store with many checkpoints.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, Memory, Options{checkpointFrames: 10}) })
}

func TestRestore(t *testing.T) { storetest.Restore(t, openStore(t, Memory, Options{})) }

// TestOpenAgain checks that a reopened store has the same content, also at paths with
// characters that are special in a URI.
func TestOpenAgain(t *testing.T) {
	for _, name := range []string{"mailhost.db", "a b?c=d#e%41&f.db", "ü;'\".db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 {
			s, err := Open(t.Context(), path, Options{})
			assert.NilError(t, err)
			mustPopulate(t, s)
			assert.Check(t, s.Close())
		}
		s := openStore(t, path, Options{})
		if _, err := create(t.Context(), s, "ada"); err != nil {
			t.Error(err)
		}
		entries, err := filepath.Glob(filepath.Dir(path) + "/*.db")
		assert.Check(t, err == nil && len(entries) == 1 && entries[0] == path, "files %q, error %v, want %q alone", entries, err, path)
	}
}

// TestFilePermissions checks that only the owner can read a new or empty file and the files beside
// it, and that a mode that the owner sets later stays.
func TestFilePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	empty := newPath(t)
	assert.NilError(t, errors.Join(os.WriteFile(empty, nil, 0o600), os.Chmod(empty, 0o644)))
	for _, path := range []string{newPath(t), empty} {
		s := openStore(t, path, Options{})
		mustPopulate(t, s)
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			info, err := os.Stat(name)
			assert.Check(t, err == nil && info.Mode() == 0o600, "%s has mode %v; %v", name, info.Mode(), err)
		}
		assert.Check(t, errors.Join(s.Close(), os.Chmod(path, 0o640), openStore(t, path, Options{}).Close()))
		info, err := os.Stat(path)
		assert.Check(t, err == nil && info.Mode() == 0o640, "%s has mode %v later; %v", path, info.Mode(), err)
	}
}

func TestMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one, other := openStore(t, Memory, Options{}), openStore(t, Memory, Options{})
	mustPopulate(t, one)
	err := other.View(t.Context(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		assert.Check(t, len(accounts) == 0, "a store in memory has the account of another store")
		return err
	})
	assert.Check(t, err)
	assert.Check(t, errors.Join(one.Close(), other.Close()))
	left, err := os.ReadDir(os.TempDir())
	assert.Check(t, err == nil && len(left) == 0, "left %v behind, error %v", left, err)
}

// TestMemoryWithoutTemporaryFolder checks that a store in memory does without a folder for temporary files
// where the system has one of its own, and that an error names the folder.
func TestMemoryWithoutTemporaryFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	if _, err := os.Stat("/dev/shm"); err == nil {
		s := openStore(t, Memory, Options{})
		mustPopulate(t, s)
		assert.Check(t, s.Close())
	}
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	_, _, err := createTemporary([]string{missing, file}, nil)
	assert.Check(t, err != nil && strings.Contains(err.Error(), missing+" can't be written; set TMPDIR"), "%v", err)
}

// alter executes a statement on a database file.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	assert.NilError(t, createFile(path))
	s, err := connect(t.Context(), path, Options{}.toWrite())
	assert.NilError(t, err)
	assert.NilError(t, errors.Join(s.exec(statement), s.close()))
}

// TestPragmas checks the settings on which durability and isolation depend.
func TestPragmas(t *testing.T) {
	e, err := open(t.Context(), newPath(t), Options{}.withDefaults())
	assert.NilError(t, err)
	defer e.Close()
	err = e.Update(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
			var got any
			err := sqlstore.ScanRow(ctx, q, "PRAGMA "+name, nil, &got)
			assert.Check(t, err == nil && fmt.Sprint(got) == want, "%s of the writer = %v, want %s; %v", name, got, want, err)
		}
		return nil
	})
	assert.Check(t, err)
	err = e.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM accounts`)
		return err
	})
	assert.Check(t, errors.Is(err, store.ErrUnavailable), "a reader writes: %v", err)
}
