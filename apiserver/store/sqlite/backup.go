package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Backup writes a copy of the store, as of one moment, to a file that does not
// exist yet. Reading and writing go on meanwhile. The copy can be opened as a
// store, and survives what the store survives once Backup returns nil; else
// nothing is left of it.
func (s *Store) Backup(ctx context.Context, path string) error {
	return backUp(ctx, s.engine.file, s.engine.lockTimeout, path)
}

// BackupFile is like Store.Backup for the store in a file, which other programs
// may have open. It takes any schema, and leaves it as it is in the copy too: a
// store can be backed up before a newer version of this program migrates it.
func BackupFile(ctx context.Context, from, to string) error {
	from, err := existingFile(from)
	if err != nil {
		return err
	}
	return backUp(ctx, file{path: from}, defaultLockTimeout, to)
}

func backUp(ctx context.Context, from file, lockTimeout time.Duration, to string) (err error) {
	s, err := connect(ctx, from.copying(lockTimeout))
	if err != nil {
		return openError(from.path, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if version, err := (dialect{}).SchemaVersion(ctx, s); err != nil || version == 0 {
		return openError(from.path, cmp.Or(err, errNoStore))
	}
	// The file is made here, so that it is never readable by others.
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("back up to %s: %w", to, err), os.Remove(to))
		}
	}()
	if _, err := s.ExecContext(ctx, `VACUUM INTO $1`, to); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// syncDir makes the name of a new file durable, where the system has that.
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
