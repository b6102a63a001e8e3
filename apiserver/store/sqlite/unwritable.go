package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	sqlite3 "modernc.org/sqlite/lib"
)

// location is where and how the content of a file can be read.
type location struct {
	path string
	with settings
	// remove deletes a temporary copy. It is nil without a copy.
	remove func() error
}

// locate finds out how to read an existing file. SQLite writes the -shm file beside it, unless another
// process holds that. If SQLite can't, for instance on a read-only file system, no process has the file
// open: without a log it is complete, and otherwise SQLite can read it with its log in a temporary copy.
func locate(ctx context.Context, path string, with settings) (location, error) {
	s, err := connect(ctx, path, settings{pragmas: with.pragmas}) // without waiting for a lock
	if err == nil {
		err = errors.Join(s.exec(`SELECT COUNT(*) FROM sqlite_schema`), s.close())
	}
	if c := code(err); c != sqlite3.SQLITE_CANTOPEN && c != sqlite3.SQLITE_READONLY {
		return location{path: path, with: with}, nil // the next connection returns other errors again
	}
	if !hasLog(path) {
		with.immutable = true
		return location{path: path, with: with}, nil
	}
	copied, remove, err := createTemporary(temporaryFolders(), nil)
	if err == nil {
		if err = errors.Join(copyFile(path, copied), copyFile(path+"-wal", copied+"-wal")); err == nil {
			return location{copied, with, remove}, nil
		}
		err = errors.Join(err, remove())
	}
	return location{}, fmt.Errorf("the database file %s can be read only in a copy, because it has a -wal file and its folder can't be written; it can't be copied: %w", path, err)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
