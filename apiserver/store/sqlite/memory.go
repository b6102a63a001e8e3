package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// openMemory opens a store that is deleted when it is closed.
func openMemory(ctx context.Context, opts Options) (e *engine, err error) {
	opts.unsynced = true
	var empty []byte
	if opts.migrations == nil {
		if empty, err = emptyStore(); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "mailhost-")
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

// emptyStore returns the content of a new store's file. It is made once in a process,
// because the migrations take much longer than the rest of Open.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "mailhost-")
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
