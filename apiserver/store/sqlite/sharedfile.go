package sqlite

import (
	"errors"
	"os"
	"slices"
	"sync"
)

// sharedFile is a descriptor of a database file, to read it beside SQLite. All
// sessions of this process on the file share one, which is closed after the last of
// them: closing any descriptor of a file releases all POSIX locks that the process
// has on it, SQLite's among them.
type sharedFile struct {
	*os.File
	info os.FileInfo
	refs int
	// unwritable is why the file can only be read, or nil.
	unwritable error

	mu sync.Mutex
	// indexes are descriptors of WAL indexes, the current one last. SQLite has locks
	// on them too.
	indexes []*os.File
}

var sharedFiles struct {
	mu  sync.Mutex
	all []*sharedFile
}

// openShared returns the descriptor of a file. The caller releases it.
func openShared(path string) (*sharedFile, error) {
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, f := range sharedFiles.all {
		if os.SameFile(f.info, info) {
			f.refs++
			return f, nil
		}
	}
	file, unwritable := os.OpenFile(path, os.O_RDWR, 0)
	if unwritable != nil {
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	if info, err = file.Stat(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f := &sharedFile{File: file, info: info, refs: 1, unwritable: unwritable}
	sharedFiles.all = append(sharedFiles.all, f)
	return f, nil
}

// release closes the descriptors if no other session uses them; nil is ignored.
func (f *sharedFile) release() error {
	if f == nil {
		return nil
	}
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	if f.refs--; f.refs > 0 {
		return nil
	}
	sharedFiles.all = slices.DeleteFunc(sharedFiles.all, func(other *sharedFile) bool { return other == f })
	err := f.Close()
	for _, index := range f.indexes {
		err = errors.Join(err, index.Close())
	}
	return err
}

// walIndex returns the WAL index at a path, or nil if there is none. The sharedFile
// closes it.
func (f *sharedFile) walIndex(path string) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if len(f.indexes) > 0 {
		last := f.indexes[len(f.indexes)-1]
		if open, err := last.Stat(); err != nil || os.SameFile(open, info) {
			return last, err
		}
	}
	index, err := os.Open(path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	f.indexes = append(f.indexes, index)
	return index, nil
}
