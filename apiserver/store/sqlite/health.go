package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// health records whether updates reach the store's file. It is safe for concurrent use.
type health struct {
	path   string
	opened os.FileInfo
	// failures counts the updates that failed because of the file or the disk since the last trial
	// succeeded. Other updates prove nothing: a small one still fits on a full disk.
	failures atomic.Int64
}

// check returns a *store.LostError if the path does not lead to the open file.
func (h *health) check() error {
	info, err := os.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.lost("was removed or moved while it was open; put it back, or stop the server and restore a backup")
	case err != nil:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err) // err contains the path
	case !os.SameFile(info, h.opened):
		return h.lost("was replaced by another file while it was open; put it back, or stop the server, move the -wal and -shm files beside it away, and start it with the other file")
	}
	return nil
}

func (h *health) lost(reason string) *store.LostError {
	return &store.LostError{Path: h.path, Reason: reason}
}

// note records the outcome of an update, and returns the explained error.
func (h *health) note(err error) error {
	err = h.explain(err)
	if errors.Is(err, store.ErrUnavailable) && !isBusy(err) { // a lock of another process is no fault of the file
		h.failures.Add(1)
	}
	return err
}

// explain wraps an error in store.ErrUnavailable if the file, the disk or a lock caused it.
func (h *health) explain(err error) error {
	var advice string
	switch code(err) {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", h.lost("is damaged; stop the server and restore a backup"), err)
	case sqlite3.SQLITE_FULL:
		advice = "its disk is full; free some space"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		advice = "make it, its directory and the -wal and -shm files beside it writable"
	case sqlite3.SQLITE_IOERR:
		advice = "check its disk, and limits on its size"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL:
		advice = "another process has locked it; try again when that has ended"
	}
	if advice == "" || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: the database file %s can't be used: %s: %w", store.ErrUnavailable, h.path, advice, err)
}

// Ping implements sqlstore.Engine. After a failed update it tries an update that it undoes, because a
// store that reports itself unready receives no other updates. Ping does not wait for other readers.
func (e *engine) Ping(ctx context.Context) error {
	failures := e.failures.Load()
	if e.writer != nil && (failures > 0 || e.check() != nil) { // an update also empties the log of a moved file
		if err := e.writer.update(ctx, tryToWrite); !errors.Is(err, errUndo) {
			return err
		}
		e.failures.CompareAndSwap(failures, 0) // unless another update failed meanwhile
	}
	if e.readers == nil {
		return e.View(ctx, e.dialect.Probe)
	}
	return e.explain(e.readers.viewNow(ctx, e.dialect.Probe))
}

var errUndo = errors.New("a trial that is undone")

// tryToWrite is an update that writes more to the log than a bulk request of 1000 mailboxes, and is
// undone. It adds 2 MB to a full cache (toWrite), which SQLite writes to the log before the end.
func tryToWrite(ctx context.Context, q sqlstore.Querier) error {
	if _, err := q.ExecContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
		INSERT INTO token_buckets (name, full_at) SELECT i || hex(randomblob(2000)), 0 FROM n`); err != nil {
		return err
	}
	return errUndo
}

// rewrite is an update that writes a row without changing it.
func rewrite(ctx context.Context, q sqlstore.Querier) error {
	_, err := q.ExecContext(ctx, `UPDATE mailhost_migrations SET version = version`)
	return err
}

// ClockOffset implements sqlstore.Engine.
func (*engine) ClockOffset(context.Context) (time.Duration, error) { return 0, nil }

// Usage implements sqlstore.Engine. The size includes the log.
func (e *engine) Usage(context.Context) (u store.Usage, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(e.path + suffix)
		if err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return u, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		if err == nil {
			u.Bytes += info.Size()
		}
	}
	return u, nil
}
