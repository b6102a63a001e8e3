//go:build unix

package operate

import (
	"os"
	"syscall"
)

// chown gives a file the owner of another file, which matters if root restores the database of a server
// that runs as another user.
func chown(path string, as os.FileInfo) error {
	owner, ok := as.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
