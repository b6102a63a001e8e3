package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// asOrdinaryUser runs fn on a thread that no file mode is lifted for: root may write everything.
func asOrdinaryUser(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		fn()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	assert.NilError(t, syscall.Setfsuid(nobody)) // of this thread
	defer func() { assert.NilError(t, syscall.Setfsuid(0)) }()
	fn()
}

// TestUnwritableFile reads a file in a folder that can't be written: a complete one, one with the log of
// a process that was killed, and one that a process has open. What the log holds must not be missing.
func TestUnwritableFile(t *testing.T) {
	path := newPath(t)
	// The folder of a test belongs to root alone.
	root, err := os.MkdirTemp("/tmp", "unwritable-")
	assert.NilError(t, err)
	t.Cleanup(func() { assert.Check(t, os.RemoveAll(root)) })
	assert.NilError(t, os.Chmod(root, 0o755))
	t.Setenv("TMPDIR", filepath.Join(root, "temporary"))
	assert.NilError(t, errors.Join(os.Mkdir(os.TempDir(), 0o777), os.Chmod(os.TempDir(), 0o777)))

	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	works(t, s, "ada")
	snapshot := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		snapshot[suffix], err = os.ReadFile(path + suffix)
		assert.NilError(t, err)
	}
	assert.Check(t, len(snapshot["-wal"]) > 0)
	works(t, s, "eve")
	assert.NilError(t, s.Close())
	closed, err := os.ReadFile(path)
	assert.NilError(t, err)

	for _, tt := range []struct {
		name  string
		files map[string][]byte
		want  []string
	}{
		{"complete", map[string][]byte{"": closed}, []string{"ada", "eve"}},
		{"with a log", map[string][]byte{"": snapshot[""], "-wal": snapshot["-wal"]}, []string{"ada"}},
		{"with a log in place", snapshot, []string{"ada"}},
		{"with an empty log", map[string][]byte{"": closed, "-wal": nil}, []string{"ada", "eve"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(root, tt.name)
			assert.NilError(t, os.Mkdir(dir, 0o755))
			path := filepath.Join(dir, "mailhost.db")
			for suffix, content := range tt.files {
				assert.NilError(t, errors.Join(os.WriteFile(path+suffix, content, 0o444), os.Chmod(path+suffix, 0o444)))
			}
			assert.NilError(t, os.Chmod(dir, 0o555))
			asOrdinaryUser(t, func() {
				_, err := Open(t.Context(), path, Options{})
				assert.Check(t, is.ErrorContains(err, "can't be"))
				s := openStore(t, path, Options{ReadOnly: true})
				assert.Check(t, is.DeepEqual(addresses(t, s), tt.want))
				assert.Check(t, is.ErrorIs(s.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrReadOnly))
				assert.Check(t, errors.Join(s.Ping(t.Context()), s.Close(), CheckPages(t.Context(), path)))
				copyUnwritable(t, path, tt.name == "with a log in place", tt.want)
				backup := filepath.Join(os.TempDir(), "backup.db")
				assert.NilError(t, BackupFile(t.Context(), path, backup))
				restored := openStore(t, backup, Options{ReadOnly: true})
				assert.Check(t, is.DeepEqual(addresses(t, restored), tt.want))
				assert.NilError(t, errors.Join(restored.Close(), os.Remove(backup)))
			})
			left, err := os.ReadDir(dir)
			assert.Check(t, err == nil && len(left) == len(tt.files), "files %v, %v", left, err)
		})
		left, err := os.ReadDir(os.TempDir())
		assert.Check(t, err == nil && len(left) == 0, "%s: left %v behind, %v", tt.name, left, err)
	}
}

// copyUnwritable copies the store to another file, unless a process may have it open.
func copyUnwritable(t *testing.T, path string, mayBeOpen bool, want []string) {
	t.Helper()
	from, err := Open(t.Context(), path, Options{ReadOnly: true, Exclusive: true})
	if mayBeOpen {
		assert.Check(t, is.ErrorContains(err, "copy it with its -wal file"))
		return
	}
	assert.NilError(t, err)
	copied := filepath.Join(os.TempDir(), "target.db")
	to := openStore(t, copied, Options{})
	_, err = sqlstore.Copy(t.Context(), from, to.Store, func(_, _ int64) {})
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(addresses(t, to), want))
	assert.NilError(t, errors.Join(from.Close(), to.Close(), os.Remove(copied)))
}
