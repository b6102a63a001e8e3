package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// health knows whether updates would be kept. It is safe for concurrent use, and
// its zero value looks at no file.
type health struct {
	path, logPath string
	// opened is the file that the writer has open, nil where it need not stay.
	opened os.FileInfo
	// log is the write-ahead log of the writer's connection, nil while it has none.
	log atomic.Pointer[os.FileInfo]
	// failure is why the last update that wrote was not kept, if the file or the
	// disk was to blame.
	failure atomic.Pointer[error]
	// asked is when, in Unix nanoseconds, that was last found out.
	asked atomic.Int64
	// logSeen is when the log was last looked at.
	logSeen atomic.Int64
}

// watch begins to look at an open file. What is kept in memory may vanish.
func (h *health) watch(f file) error {
	if f.volatile {
		return nil
	}
	real, err := filepath.EvalSymlinks(f.path) // SQLite keeps the log beside that
	if err != nil {
		return err
	}
	h.path, h.logPath = f.path, real+"-wal"
	h.opened, err = os.Stat(f.path)
	return err
}

// connected notes the log of a connection that has begun an update, whose file
// can't be removed by SQLite before it is closed.
func (h *health) connected() {
	if h.opened == nil || h.log.Load() != nil {
		return
	}
	if info, err := os.Stat(h.logPath); err == nil {
		h.log.Store(&info)
	}
}

// disconnecting is called before that connection is closed.
func (h *health) disconnecting() { h.log.Store(nil) }

// check returns an error that is store.ErrUnavailable where the path does not
// lead to the open file any more: nobody would see again what is written to it.
func (h *health) check() error {
	if h.opened == nil {
		return nil
	}
	info, err := os.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.lost("was removed or moved while it was open; put it back, or restart the server")
	case err != nil:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err) // which names the path
	case !os.SameFile(info, h.opened):
		return h.lost("was replaced by another file while it was open; put it back, or restart the server with the other one")
	case info.Size() == 0 && h.opened.Size() > 0:
		return h.lost("was truncated while it was open; stop the server and restore a backup")
	}
	return h.checkLog()
}

// checkLog looks at the log once in a while: unlike the file it is lost for good
// only where the process is killed.
func (h *health) checkLog() error {
	log := h.log.Load()
	if log == nil || !due(&h.logSeen) {
		return nil
	}
	if info, err := os.Stat(h.logPath); err == nil && os.SameFile(info, *log) || h.log.Load() != log {
		return nil
	}
	h.logSeen.Store(0) // it stays lost, for the next caller too
	return h.lost("has lost the -wal file beside it while it was open; stop the server with SIGTERM, which saves what was in it, and start it again")
}

func (h *health) lost(how string) error {
	return fmt.Errorf("%w: the database file %s %s", store.ErrUnavailable, h.path, how)
}

// note remembers what became of an update, and returns its error as one that is
// store.ErrUnavailable where it is.
func (h *health) note(err error, wrote bool) error {
	if err == nil {
		if wrote && h.failure.Load() != nil {
			h.failure.Store(nil)
		}
		return nil
	}
	if err = h.explain(err); errors.Is(err, store.ErrUnavailable) {
		h.asked.Store(time.Now().UnixNano())
		h.failure.Store(&err)
	}
	return err
}

// explain makes an error store.ErrUnavailable where the file or the disk is to
// blame, and the next attempt may succeed.
func (h *health) explain(err error) error {
	switch code(err) {
	case 0:
		return err
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		if lost := h.check(); lost != nil {
			return fmt.Errorf("%w: %w", lost, err)
		}
	case lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN:
		if !errors.Is(err, store.ErrUnavailable) {
			return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
	}
	return err
}

// pause is how long what was found out is believed where finding out costs much.
const pause = time.Second

// due reports whether the caller, and nobody else, is to find something out again.
func due(last *atomic.Int64) bool {
	then, now := last.Load(), time.Now()
	return now.Sub(time.Unix(0, then)).Abs() >= pause && last.CompareAndSwap(then, now.UnixNano())
}

// Ping implements store.Store. After an update that could not be kept it fails
// until another one is: where nobody sends any, since the store is not ready, it
// tries one that changes nothing itself.
func (s *Store) Ping(ctx context.Context) error {
	w, h := s.engine.writer, &s.engine.health
	h.logSeen.Store(0) // costs little here
	if err := h.check(); err != nil {
		return err
	}
	if failure := h.failure.Load(); failure != nil && w != nil {
		if !due(&h.asked) {
			return *failure
		}
		if err := w.update(ctx, rewrite); err != nil {
			return err
		}
	}
	return s.Store.Ping(ctx)
}

// rewrite writes what is there already.
func rewrite(ctx context.Context, q sqlstore.Querier) error {
	version, err := (dialect{}).SchemaVersion(ctx, q)
	if err != nil {
		return err
	}
	return dialect{}.SetSchemaVersion(ctx, q, version)
}
