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

	mu      sync.Mutex
	indexes []*os.File // of the log, the current one last; SQLite has locks on them too
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
	err := h.file.Close()
	for _, index := range h.indexes {
		err = errors.Join(err, index.Close())
	}
	return err
}

// index returns the index of the log, which is at a path, or nil if there is none. The
// handle closes it.
func (h *handle) index(path string) (*os.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if len(h.indexes) > 0 {
		last := h.indexes[len(h.indexes)-1]
		if open, err := last.Stat(); err != nil || os.SameFile(open, info) {
			return last, err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	h.indexes = append(h.indexes, f)
	return f, nil
}
