package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// newOrExistingFile returns the absolute path of a file, which it creates if it is missing.
func newOrExistingFile(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open %q: %w", path, err)
	}
	if err := checkKind(path); err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("open %s: its directory does not exist; create it first", path)
	}
	return abs, cmp.Or(createFile(abs), checkMode(abs))
}

// checkKind returns an error if a path is empty, or leads to a directory or another special file.
func checkKind(path string) error {
	if path == "" {
		return errors.New(`open "": the path is empty; name a file`)
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("open %q: it is a directory; name a file in it", path)
	}
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("open %q: it is not a regular file; name one, or one that does not exist", path)
	}
	return nil
}

// checkMode makes an empty file, which is about to become a database, readable for its owner only.
// It returns an error if the owner may not write the file: SQLite would give the files beside it
// the same mode.
func checkMode(path string) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	mode := info.Mode().Perm()
	if mode&0o200 == 0 {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("the database file %s can't be written: %w; check its owner and mode", path, errors.Unwrap(err))
		}
		return f.Close()
	}
	if info.Size() > 0 || mode&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("others than its owner can open the empty file, and a database holds secrets; remove it, and it is made anew: %w", err)
	}
	return nil
}

// createMu serializes createFile.
var createMu sync.Mutex

// createFile creates an empty file that only its owner can read, unless the file exists. It must not
// open an existing file: closing a file releases all of this process's locks on it, including another
// store's.
func createFile(path string) error {
	createMu.Lock()
	defer createMu.Unlock()
	onlyLog := hasLog(path) // first: a new database gets its file before its log
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && onlyLog {
		return openError(path, errOnlyLog)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err // contains the path
	}
	return f.Close()
}

// hasLog reports whether a file exists that SQLite would take for the log of a database at a path. SQLite
// would delete a log with changes, and share an empty log with a process that has a moved file open.
func hasLog(path string) bool {
	_, err := os.Stat(path + "-wal")
	return err == nil
}

// existingFile returns the absolute path of a file, or fs.ErrNotExist.
func existingFile(path string) (string, error) {
	if err := checkKind(path); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("open %q: no such database: %w", path, fs.ErrNotExist)
	} else if err != nil {
		return "", err // contains the path
	}
	return filepath.Abs(path)
}
