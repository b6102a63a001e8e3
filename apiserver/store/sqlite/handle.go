package sqlite

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// handle is a file descriptor of our own for a database file, to look at its
// content beside SQLite. All sessions of this process on the file share one, and it
// is closed after the last of them: closing any descriptor of a file drops all
// POSIX locks that the process has on it, SQLite's among them.
type handle struct {
	file *os.File
	info os.FileInfo
	refs int
}

var handles struct {
	mu  sync.Mutex
	all []*handle
}

// hold returns the handle of a file, which the caller releases.
func hold(path string) (*handle, error) {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, h := range handles.all {
		if os.SameFile(h.info, info) {
			h.refs++
			return h, nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	h := &handle{file: f, info: info, refs: 1}
	handles.all = append(handles.all, h)
	return h, nil
}

// release gives a handle back; nil is ignored.
func (h *handle) release() error {
	if h == nil {
		return nil
	}
	handles.mu.Lock()
	defer handles.mu.Unlock()
	if h.refs--; h.refs > 0 {
		return nil
	}
	handles.all = slices.DeleteFunc(handles.all, func(other *handle) bool { return other == h })
	return h.file.Close()
}
