package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
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
	if err := r.Update(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Update = %v, want ErrReadOnly", err)
	}
	assert.Check(t, errors.Join(r.Ping(t.Context()), r.Close()))
}

func readAll(t *testing.T, paths ...string) (all string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		all += string(data)
	}
	return all
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
	storetest.FillRandomly(t, s, 1)
	assert.NilError(t, errors.Join(CheckPages(t.Context(), path), s.Close()))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CheckPages(&expiring{Context: ended}, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	content := []byte(readAll(t, path))
	clear(content[len(content)/2:])
	assert.NilError(t, os.WriteFile(path, content, 0o600))
	to := newPath(t)
	for _, err := range []error{CheckPages(t.Context(), path), BackupFile(t.Context(), path, to)} {
		assert.Check(t, err != nil && strings.Contains(err.Error(), path+": it is damaged; restore a backup"), err)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the backup of a damaged file was left behind")
	}
}

// TestBackup checks a copy of a store in use and of a file, which keeps the version of its
// schema, even one that this program does not support.
func TestBackup(t *testing.T) {
	path, to, newer := newPath(t), filepath.Join(t.TempDir(), "it's a copy.db"), newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	works(t, s, "ada")
	assert.NilError(t, s.View(t.Context(), func(store.Reader) error { return BackupFile(t.Context(), path, to) }))
	works(t, s, "eve")
	if info, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if err := BackupFile(t.Context(), path, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup = %v, want fs.ErrExist", err)
	}
	restored := openStore(t, to, Options{})
	if got := addresses(t, restored); !slices.Equal(got, []string{"ada"}) {
		t.Errorf("the backup has %q", got)
	}
	check(t, restored)
	if err := BackupFile(t.Context(), path, filepath.Join(t.TempDir(), "nowhere", "to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing directory: %v", err)
	}
	makeLater(t, newer)
	to = newPath(t)
	assert.NilError(t, BackupFile(t.Context(), newer, to))
	if _, err := Open(t.Context(), to, Options{}); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("Open = %v, want ErrNewerSchema", err)
	}
	openStore(t, to, later(laterMigration))
}
