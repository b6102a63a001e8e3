package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// ErrClosed is returned by the methods of a store after Close.
var ErrClosed = errors.New("the store is closed")

// ErrReadOnly is returned by Update of a store that was opened to be read.
var ErrReadOnly = errors.New("the store is open for reading only")

var errOtherProgram = errors.New("it is the SQLite database of another program; choose another path")

var errNoStore = errors.New("it is empty: nothing has been stored there yet")

var errOlderSchema = errors.New("an older version of this program wrote it; open it for writing once, and it is brought up to date")

// code returns the primary result code of SQLite's error, 0 for another error.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isBusy reports whether another connection holds the lock that was needed.
func isBusy(err error) bool { return code(err) == lib.SQLITE_BUSY }

// openError says what is wrong with a file.
func openError(path string, err error) error {
	if code(err) == lib.SQLITE_NOTADB {
		return fmt.Errorf("open %s: it is not an SQLite database; choose another path: %w", path, err)
	}
	return fmt.Errorf("open %s: %w", path, err)
}
