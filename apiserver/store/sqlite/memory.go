package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// openMemory opens a new store in a temporary directory. Close deletes it.
func openMemory(ctx context.Context, _ string, opts Options) (e *engine, err error) {
	opts.unsynced = true
	var empty []byte
	if opts.migrations == nil {
		if empty, err = emptyStore(); err != nil {
			return nil, err
		}
	}
	path, remove, err := createTemporary(temporaryFolders(), empty)
	if err != nil {
		return nil, err
	}
	if e, err = open(ctx, path, opts); err != nil {
		return nil, errors.Join(err, remove())
	}
	e.remove = remove
	return e, nil
}

// temporaryFolders returns the folders for temporary files, the preferred one first. /dev/shm is memory
// of Linux, which containers with a read-only file system provide too.
func temporaryFolders() []string { return []string{os.TempDir(), "/dev/shm"} }

// temporaryPrefix begins the name of a directory with a store in memory, or with a copy of a file.
const temporaryPrefix = "mailhostd-memory-"

// createTemporary creates a database file in a new directory of the first folder that can be written,
// and returns a function that removes the directory.
func createTemporary(folders []string, content []byte) (path string, remove func() error, err error) {
	for _, folder := range folders {
		dir, failed := os.MkdirTemp(folder, temporaryPrefix)
		if failed == nil {
			path, remove = filepath.Join(dir, "mailhost.db"), func() error { return os.RemoveAll(dir) }
			if failed = os.WriteFile(path, content, 0o600); failed == nil {
				return path, remove, nil
			}
			failed = errors.Join(failed, remove())
		}
		if err == nil { // the first folder is the one that people can choose
			err = fmt.Errorf("the folder for temporary files %s can't be written; set TMPDIR to another one: %w", folder, failed)
		}
	}
	return "", nil, err
}

// removeAbandoned removes the directories that killed processes left: no process has the file
// open. It keeps directories of the last minute, because a process may be about to open the file, and
// symbolic links, because another user's link may lead to a database of this user.
func removeAbandoned() {
	var paths []string
	for _, folder := range temporaryFolders() {
		if folder, err := filepath.EvalSymlinks(folder); err == nil {
			found, _ := filepath.Glob(filepath.Join(folder, temporaryPrefix+"*", "mailhost.db")) // the pattern is valid
			paths = append(paths, found...)
		}
	}
	for _, path := range paths {
		info, err := os.Stat(filepath.Dir(path))
		if target, _ := filepath.EvalSymlinks(path); target != path || err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		s, err := connect(context.Background(), path, Options{Exclusive: true}.toWrite())
		if err == nil { // works with the schema of any version
			err = errors.Join(s.exec(`BEGIN EXCLUSIVE`), s.close())
		}
		if err == nil {
			_ = os.RemoveAll(filepath.Dir(path)) // another process may be doing the same
		}
	}
}

// emptyStore returns the content of a new store's file. It runs the migrations once per process, because they are slow.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	removeAbandoned()
	path, remove, err := createTemporary(temporaryFolders(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = remove() }() // a directory that is left is removed by a later process
	e, err := open(context.Background(), path, Options{unsynced: true}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil { // copies the log into the file
		return nil, err
	}
	return os.ReadFile(path)
})
