package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAbandonedStores checks that a store in memory that was left behind is removed, and that a
// link to another database in its place opens nothing.
func TestAbandonedStores(t *testing.T) {
	content, err := emptyStore()
	assert.NilError(t, err)
	t.Setenv("TMPDIR", t.TempDir())
	temporary := os.TempDir()
	leave := func(name string, place func(path string) error) string {
		dir := filepath.Join(temporary, name)
		assert.NilError(t, os.Mkdir(dir, 0o700))
		assert.NilError(t, place(filepath.Join(dir, "mailhost.db")))
		assert.NilError(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
		return dir
	}
	write := func(path string) error { return os.WriteFile(path, content, 0o600) }
	own := leave("own", write)
	abandoned := leave(memoryPrefix+"1", write)
	linked := leave(memoryPrefix+"2", func(path string) error { return os.Symlink(filepath.Join(own, "mailhost.db"), path) })
	linkedDir := filepath.Join(temporary, memoryPrefix+"3")
	assert.NilError(t, os.Symlink(own, linkedDir))
	removeAbandoned()
	_, err = os.Lstat(abandoned)
	assert.Check(t, os.IsNotExist(err), "the abandoned store is there: %v", err)
	for _, path := range []string{linked, linkedDir, own} {
		_, err := os.Lstat(path)
		assert.Check(t, err, "%s was opened, and is gone", path)
	}
}
