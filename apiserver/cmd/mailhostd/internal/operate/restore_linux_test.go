package operate_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestRestoreOntoMount checks that restore refuses a database that is mounted as a single file, as in a
// container, and leaves everything as it was.
func TestRestoreOntoMount(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	dir := t.TempDir()
	backup, mounted := filepath.Join(dir, "backup.db"), filepath.Join(dir, "mailhost.db")
	code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup)
	assert.Assert(t, code == cli.ExitOK, stderr)
	mailhostdtest.WriteFile(t, mounted, "")
	if err := syscall.Mount(database, mounted, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("mounting a file needs the rights of root and a system that permits it: %v", err)
	}
	defer func() { assert.Check(t, syscall.Unmount(mounted, 0)) }()
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "mount its folder instead", "restore", backup, "--database", mounted, "--yes")
	left, err := os.ReadDir(dir)
	assert.NilError(t, err)
	assert.Check(t, is.Len(left, 2), "%v", left)
	code, _, stderr = mailhostdtest.Run(t, "token", "list", "--database", mounted)
	assert.Check(t, code == cli.ExitOK, stderr)
}
