package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Backup writes a copy of the store, as of one moment, to a file that does not
// exist yet. Reading and writing go on meanwhile. The copy can be opened as a
// store.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	// The file is made here, so that it is never readable by others.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("back up to %s: %w", path, err), os.Remove(path))
		}
	}()
	if err := s.engine.copyTo(ctx, path); err != nil {
		return err
	}
	return f.Sync()
}

func (e *engine) copyTo(ctx context.Context, path string) (err error) {
	s, err := connect(ctx, e.writer.file.copying(e.writer.lockTimeout))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	_, err = s.ExecContext(ctx, `VACUUM INTO $1`, path)
	return err
}
