package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	errNoDatabase   = errors.New("it is not an SQLite database; choose another path, or restore a backup if it was one")
	errOtherProgram = errors.New("it is the SQLite database of another program; choose another path")
	errOnlyLog      = errors.New("it is missing, and the -wal file beside it belongs to it; put it back, or end the processes that have it open and move the -wal file away")
	errOtherLog     = errors.New("the -wal file beside it belongs to another database, and SQLite would apply it to the backup; move it away, or name another file")
	// errReplaced means that another file replaced the file while it was being opened.
	errReplaced = errors.New("it was replaced by another file while it was being opened; try again")
)

// code returns SQLite's primary result code, or sqlite3.SQLITE_OK if the error is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return sqlite3.SQLITE_OK
}

// isBusy reports whether another connection holds the required lock.
func isBusy(err error) bool { return code(err) == sqlite3.SQLITE_BUSY }

// openError explains why a file can't be opened.
func openError(path string, err error) error {
	switch code(err) {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("open %s: %w: %w", path, errNoDatabase, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("open %s: it is damaged; restore a backup: %w", path, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the database file %s can't be opened; check that you may read and write it, its directory, and the -wal and -shm files beside it: %w", path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("open %s: another process has locked it, for instance mailhostd restore; try again when that has ended: %w", path, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL:
		return fmt.Errorf("the database file %s can't be read or written; check its disk, which may be full: %w", path, err)
	}
	return fmt.Errorf("open %s: %w", path, err)
}
