package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

func TestReadOnly(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	r := openStore(t, path, Options{ReadOnly: true})
	for _, name := range []string{"ada", "eve"} { // while another store writes
		_, err := create(t.Context(), s, name)
		assert.NilError(t, err)
	}
	got := addresses(t, r)
	assert.Check(t, len(got) == 2, "the read-only store has %q", got)
	assert.Check(t, is.ErrorIs(r.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrReadOnly), "Update")
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
	_, err := os.Stat(to)
	assert.Check(t, errors.Is(err, fs.ErrNotExist), "the backup of a damaged file was left behind")
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
	assert.Check(t, is.ErrorIs(BackupFile(t.Context(), path, to), fs.ErrExist), "a second backup")
	restored := openStore(t, to, Options{})
	assert.Check(t, is.DeepEqual(addresses(t, restored), []string{"ada"}), "the backup")
	check(t, restored)
	assert.Check(t, is.ErrorIs(BackupFile(t.Context(), path, filepath.Join(t.TempDir(), "nowhere", "to")), fs.ErrNotExist), "into a missing directory")
	makeLater(t, newer)
	to = newPath(t)
	assert.NilError(t, BackupFile(t.Context(), newer, to))
	_, err := Open(t.Context(), to, Options{})
	assert.Check(t, errors.Is(err, store.ErrNewerSchema), "Open = %v, want ErrNewerSchema", err)
	openStore(t, to, later(laterMigration))
}
