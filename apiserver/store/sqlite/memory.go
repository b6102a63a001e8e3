package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// openMemory opens a store that is deleted when it is closed. A killed process leaves it in the
// temporary directory, which the system clears.
func openMemory(ctx context.Context, opts Options) (e *engine, err error) {
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
		e, err = openFile(ctx, path, opts)
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	e.remove = remove
	return e, nil
}

// memoryPrefix begins the name of a directory with a store in memory.
const memoryPrefix = "mailhostd-memory-"

// emptyStore returns the content of a new store's file, once in a process: migrations are slow.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", memoryPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mailhost.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	e, err := openFile(context.Background(), path, Options{unsynced: true}.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil { // which copies the log into the file
		return nil, err
	}
	return os.ReadFile(path)
})
