package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	zombiezen "zombiezen.com/go/sqlite"
)

// Backup writes a snapshot of the store to a file that must not exist. The store can
// be used meanwhile. If Backup returns nil, the copy is durable and can be opened as
// a store; otherwise no copy is left. A process that is killed may leave a file
// .backup-*.tmp beside the path. If the copy can't be written, the error is an
// *OutputError.
func (s *Store) Backup(ctx context.Context, path string) error {
	return backUp(ctx, s.engine.file, s.engine.lockTimeout, path)
}

// BackupFile is Store.Backup for a file, which other processes may have open. It does
// not migrate the schema, so that a store can be backed up before a newer version of
// this program migrates it.
func BackupFile(ctx context.Context, from, to string) error {
	from, err := existingFile(from)
	if err != nil {
		return err
	}
	return backUp(ctx, file{path: from}, defaultLockTimeout, to)
}

func backUp(ctx context.Context, from file, lockTimeout time.Duration, to string) (err error) {
	if _, err := checkFiles(from.path, false); err != nil {
		return openError(from.path, err)
	}
	s, err := connect(ctx, from.path, from.copying(lockTimeout))
	if err != nil {
		return openError(from.path, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.conn.SetInterrupt(ctx.Done())
	if version, err := (dialect{}).SchemaVersion(ctx, s); err != nil || version == 0 {
		return openError(from.path, cmp.Or(err, errNoStore))
	}
	if err := s.checkPath(from.path); err != nil {
		return openError(from.path, err)
	}
	copying := func(path string) error {
		if _, err := s.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
			return err
		}
		return renewIdentity(path)
	}
	err = writeNew(to, copying)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case isSourceError(err):
		return openError(from.path, err)
	case err != nil:
		return &OutputError{Path: to, Err: err}
	}
	return nil
}

// OutputError means that a backup could not be written.
type OutputError struct {
	Path string
	Err  error
}

func (e *OutputError) Error() string { return fmt.Sprintf("back up to %s: %s", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// isSourceError reports whether a copy failed because of the source.
func isSourceError(err error) bool {
	switch code(err) {
	case zombiezen.ResultCorrupt, zombiezen.ResultNotADB, zombiezen.ResultBusy:
		return true
	}
	return false
}

// writeNew creates a file that only its owner can read. It gets its name when it is
// complete and durable. If the path exists, the error is fs.ErrExist.
func writeNew(path string, fill func(path string) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".backup-*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // unless it was renamed; a leftover is harmless
	if err := errors.Join(fill(f.Name()), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// rename renames a file unless the new name exists. If the file system has no links,
// an empty file reserves the name.
func rename(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(from, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// syncDir makes the name of a new file durable, if the system supports that.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
