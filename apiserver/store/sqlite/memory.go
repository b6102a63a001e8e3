package sqlite

import (
	"context"
	"errors"
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
	dir, err := os.MkdirTemp("", memoryPrefix)
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	path := filepath.Join(dir, "mailhost.db")
	if err = os.WriteFile(path, empty, 0o600); err == nil {
		e, err = open(ctx, path, opts)
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	e.remove = remove
	return e, nil
}

// memoryPrefix begins the name of a directory with a store in memory.
const memoryPrefix = "mailhostd-memory-"

// removeAbandoned removes the stores in memory that killed processes left: no process has the file
// open. It keeps directories of the last minute, because a process may be about to open the file, and
// symbolic links, because another user's link may lead to a database of this user.
func removeAbandoned() {
	temporary, _ := filepath.EvalSymlinks(os.TempDir())
	paths, _ := filepath.Glob(filepath.Join(temporary, memoryPrefix+"*", "mailhost.db")) // the pattern is valid
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
	dir, err := os.MkdirTemp("", memoryPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mailhost.db")
	e, err := open(context.Background(), path, Options{unsynced: true}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil { // copies the log into the file
		return nil, err
	}
	return os.ReadFile(path)
})
