package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// openMemory opens a store that is deleted when it is closed.
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

// removeAbandoned removes the stores in memory of processes that were killed: nobody has their
// files open. A directory of the last minute may be one whose file is not open yet. A symbolic link
// may be another user's, and lead to a database of this one.
func removeAbandoned() {
	temporary, _ := filepath.EvalSymlinks(os.TempDir())
	paths, _ := filepath.Glob(filepath.Join(temporary, memoryPrefix+"*", "mailhost.db")) // the pattern is valid
	for _, path := range paths {
		info, err := os.Stat(filepath.Dir(path))
		if target, _ := filepath.EvalSymlinks(path); target != path || err != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		s, err := connect(context.Background(), path, Options{Exclusive: true}.toWrite())
		if err == nil { // the schema may be another version's
			err = errors.Join(s.exec(`BEGIN EXCLUSIVE`), s.close())
		}
		if err == nil {
			_ = os.RemoveAll(filepath.Dir(path)) // another process may be doing the same
		}
	}
}

// emptyStore returns the content of a new store's file, once in a process: migrations are slow.
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
	if err := e.Close(); err != nil { // which copies the log into the file
		return nil, err
	}
	return os.ReadFile(path)
})
