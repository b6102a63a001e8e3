package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAbandonedStores checks that an abandoned store in memory of any version is removed, that a store
// in use is not, and that a link to another database in its place opens nothing.
func TestAbandonedStores(t *testing.T) {
	content, err := emptyStore()
	assert.NilError(t, err)
	t.Setenv("TMPDIR", t.TempDir())
	own := filepath.Join(t.TempDir(), "mailhost.db")
	assert.NilError(t, os.WriteFile(own, content, 0o600))
	for name, place := range map[string]func(path string) error{
		"file": func(path string) error { return os.WriteFile(path, content, 0o600) },
		"link": func(path string) error { return os.Symlink(own, path) },
		"other version": func(path string) error {
			assert.NilError(t, os.WriteFile(path, nil, 0o600))
			s, err := connect(t.Context(), path, Options{}.withDefaults().toWrite())
			assert.NilError(t, err)
			return errors.Join(s.exec(useWAL), s.exec(`CREATE TABLE later (id TEXT)`), s.close())
		},
		"in use": func(path string) error {
			e, err := open(t.Context(), path, Options{}.withDefaults())
			t.Cleanup(func() { assert.Check(t, e.Close()) })
			return err
		},
	} {
		dir := filepath.Join(os.TempDir(), temporaryPrefix+name)
		assert.NilError(t, os.Mkdir(dir, 0o700))
		assert.NilError(t, place(filepath.Join(dir, "mailhost.db")))
		assert.NilError(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
		removeAbandoned()
		_, err := os.Lstat(dir)
		assert.Check(t, os.IsNotExist(err) == (name == "file" || name == "other version"), "%s: %v", name, err)
	}
}
