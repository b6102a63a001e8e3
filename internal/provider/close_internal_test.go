package provider

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestClose checks that the provider closes its database, so that the file is complete and
// the write-ahead log is empty.
func TestClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &process{}
	if _, err := (settings{dataDir: dir}).open(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, p.close())
	log, err := os.Stat(filepath.Join(dir, databaseName+"-wal"))
	if err == nil && log.Size() > 0 {
		t.Errorf("%d bytes are left in the log", log.Size())
	}
}
