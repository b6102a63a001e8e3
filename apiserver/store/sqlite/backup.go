package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// BackupFile writes a snapshot of a store's file, which may be in use, to a new file. If it
// returns nil, the copy is durable and can be opened as a store. After an error it leaves no copy;
// a killed process may leave an empty file, and a file .backup-*.tmp beside it. An *OutputError
// means that the copy can't be written. The schema is not migrated, so that a store can be
// backed up before an upgrade.
func BackupFile(ctx context.Context, from, to string) error {
	return readFile(ctx, from, func(s *session) error {
		err := requireStore(ctx, s)
		if err != nil {
			return err
		}
		err = writeNew(to, func(path string) error {
			_, err := s.ExecContext(ctx, `VACUUM INTO $1`, path)
			return err
		})
		if c := code(err); err == nil || c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || c == sqlite3.SQLITE_BUSY {
			return err // of the source
		}
		return &OutputError{Path: to, Err: err}
	})
}

// CheckPages reads every page of a store's file, which may be in use, and returns an error if
// a page is damaged.
func CheckPages(ctx context.Context, path string) error {
	return readFile(ctx, path, func(s *session) error {
		var finding string
		err := sqlstore.ScanRow(ctx, s, `PRAGMA quick_check(1)`, nil, &finding)
		if err == nil && finding != "ok" {
			err = fmt.Errorf("it is damaged; restore a backup: %s", strings.Join(strings.Fields(finding), " "))
		}
		return err
	})
}

// Compact rewrites a store's file, which may be in use, without the space of deleted rows. Updates
// wait meanwhile. Compact needs as much free space as the file.
func Compact(ctx context.Context, path string) error {
	return readFile(ctx, path, func(s *session) error {
		err := requireStore(ctx, s)
		if err == nil {
			_, err = s.ExecContext(ctx, `VACUUM`)
		}
		if err == nil {
			_, err = s.checkpoint()
		}
		return err
	})
}

// requireStore returns an error if nothing was stored in a file.
func requireStore(ctx context.Context, s *session) error {
	version, _, err := schemaVersion(ctx, s)
	if err == nil && version == 0 {
		err = sqlstore.ErrNoStore
	}
	return err
}

// readFile calls read with a connection to an existing file, which may be unwritable. If ctx has ended,
// it returns ctx's error.
func readFile(ctx context.Context, path string, read func(*session) error) error {
	path, err := existingFile(path)
	if err != nil {
		return err
	}
	at, err := locate(ctx, path, settings{wait: defaultLockTimeout})
	if err != nil {
		return err
	}
	s, err := connect(ctx, at.path, at.with)
	if err == nil {
		err = errors.Join(read(s), s.close())
	}
	if at.remove != nil {
		err = errors.Join(err, at.remove())
	}
	if _, failed := errors.AsType[*OutputError](err); err != nil && ctx.Err() != nil {
		return ctx.Err()
	} else if err == nil || failed {
		return err
	}
	return openError(path, err)
}

// OutputError means that a backup could not be written.
type OutputError struct {
	Path string
	Err  error
}

func (e *OutputError) Error() string { return fmt.Sprintf("back up to %s: %s", e.Path, e.Err) }

func (e *OutputError) Unwrap() error { return e.Err }

// writeNew creates a file that only its owner can read, and makes its content durable. If the
// path exists, it returns fs.ErrExist.
func writeNew(path string, fill func(path string) error) (err error) {
	reserved, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := reserved.Close(); err != nil {
		return err
	}
	if hasLog(path) {
		return errOtherLog
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".backup-*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // unless it was renamed; a leftover is harmless
	if err := errors.Join(fill(f.Name()), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close()) // the name is durable then
}
