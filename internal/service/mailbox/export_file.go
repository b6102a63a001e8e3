package mailbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// file is a file that takes its place when it is whole: until then it lies beside
// it under another name. Its errors are of type *fileError.
type file struct {
	path      string
	overwrite bool
	temporary *os.File
}

// fileError is what the file system has against a path.
type fileError struct {
	path string
	err  error
}

// Error implements error.
func (e *fileError) Error() string { return fmt.Sprintf("%s can't be written: %s", e.path, e.err) }

// Unwrap returns the cause.
func (e *fileError) Unwrap() error { return e.err }

// failure names the path that the user knows, instead of the temporary one.
func failure(path string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	return &fileError{path: path, err: err}
}

var errIsDirectory = errors.New("it is a directory")

// checkTarget checks, as far as it can be told before, that a file can take a
// place.
func checkTarget(path string, overwrite bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil: // there is nothing, or newFile tells what it is
		return nil //nolint:nilerr // see above
	case info.IsDir():
		return &fileError{path, errIsDirectory}
	case !overwrite:
		return &fileError{path, fs.ErrExist}
	}
	return nil
}

// errNotDirectory is what is wrong with a path below a file: no apply can make it a
// directory.
var errNotDirectory = errors.New("a part of the path is a file and no directory")

// checkDirectory checks that the directory of a file exists. missing is the first
// directory that does not, which the same apply may still create.
func checkDirectory(path string) (missing string, err error) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, statErr := os.Stat(dir)
		switch {
		case statErr == nil && !info.IsDir():
			return "", &fileError{path, errNotDirectory}
		case statErr == nil:
			return missing, nil
		case errors.Is(statErr, fs.ErrNotExist):
			missing = dir
		case errors.Is(statErr, syscall.ENOTDIR): // a parent says so
		default:
			return "", nil // newFile reports it
		}
		if dir == filepath.Dir(dir) {
			return missing, nil
		}
	}
}

// newFile begins a file that only the user can read.
func newFile(path string, overwrite bool) (*file, error) {
	if err := checkTarget(path, overwrite); err != nil {
		return nil, err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, failure(path, err)
	}
	return &file{path: path, overwrite: overwrite, temporary: temporary}, nil
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	n, err := f.temporary.Write(p)
	if err != nil {
		err = failure(f.path, err)
	}
	return n, err
}

// commit puts the file into its place.
func (f *file) commit() error {
	err := f.temporary.Sync()
	if closeErr := f.temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = f.place()
	}
	if err != nil {
		return failure(f.path, err)
	}
	return nil
}

// place renames the file. A rename would replace what is there; a link does not.
func (f *file) place() error {
	if f.overwrite {
		return os.Rename(f.temporary.Name(), f.path)
	}
	return os.Link(f.temporary.Name(), f.path)
}

// discard removes what is left under the temporary name.
func (f *file) discard() {
	_ = f.temporary.Close()
	_ = os.Remove(f.temporary.Name())
}
