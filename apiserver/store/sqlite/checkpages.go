package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	zombiezen "zombiezen.com/go/sqlite"
)

// CheckPages reads every page of a store's file, which other processes may have open, and
// returns an error if one is damaged. Opening a store reads only a few pages.
func CheckPages(ctx context.Context, path string) (err error) {
	path, err = existingFile(path)
	if err != nil {
		return err
	}
	s, err := connect(ctx, path, file{path: path}.readOnly(defaultLockTimeout))
	if err != nil {
		return openError(path, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.conn.SetInterrupt(ctx.Done())
	finding, err := s.quickCheck(ctx)
	switch {
	case code(err) == zombiezen.ResultInterrupt && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return openError(path, err)
	case finding != "ok":
		return fmt.Errorf("open %s: it is damaged; restore a backup: %s", path, strings.Join(strings.Fields(finding), " "))
	}
	return nil
}

// quickCheck returns "ok" or the first thing that is damaged.
func (s *session) quickCheck(ctx context.Context) (finding string, err error) {
	rows, err := s.QueryContext(ctx, `PRAGMA quick_check(1)`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&finding); err != nil {
			return "", err
		}
	}
	return finding, rows.Err()
}
