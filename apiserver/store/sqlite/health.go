package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// health reports whether the files that were opened are still there, with the
// content that this program has written. It is safe for concurrent use, and its
// zero value looks at no file.
type health struct {
	path, logPath, indexPath string
	// opened is the file at path when it was opened, nil if it need not last.
	opened os.FileInfo
	handle *handle

	mu   sync.Mutex
	seen look // when the content was last found to be right
	// seenProgress is how far checkpoints were at that time or just before.
	seenProgress progress
	// lostContent is why the content is not right. Nothing mends that.
	lostContent atomic.Pointer[store.LostError]

	// beside is set while the writer has a connection.
	beside atomic.Pointer[beside]
	// besideSeen is when beside was last compared with the paths, in Unix
	// nanoseconds.
	besideSeen atomic.Int64

	// failure is why the last update that wrote was not kept, if the file or the
	// disk was to blame, and asked when that was last found out, in Unix
	// nanoseconds.
	failure atomic.Pointer[error]
	asked   atomic.Int64
}

// beside are the -wal and -shm files of the writer's connection.
type beside struct {
	log         *os.File
	logInfo     os.FileInfo
	indexInfo   os.FileInfo
	mu          sync.Mutex
	recorded    bool // by a commit, with these:
	main        header
	prefix      [logHeaderSize]byte
	size        int64
	checkpoints bool // all of the log is in the file too
}

// watch begins to look at an open file. The content of a volatile one may vanish.
func (h *health) watch(f file) (err error) {
	if f.volatile {
		return nil
	}
	real, err := filepath.EvalSymlinks(f.path) // SQLite keeps the log beside that
	if err != nil {
		return err
	}
	if h.handle, err = hold(f.path); err != nil {
		return err
	}
	h.path, h.logPath, h.indexPath, h.opened = f.path, real+"-wal", real+"-shm", h.handle.info
	now, l, err := examine(h.handle, h.logPath)
	h.seen, h.seenProgress = now, l.progress
	return err
}

// connected records the files of a connection that has read or written: SQLite keeps
// them until it is closed. SQLite takes no locks on the log, so that it can be closed.
func (h *health) connected() {
	if h.opened == nil || h.beside.Load() != nil {
		return
	}
	log, err := os.OpenFile(h.logPath, os.O_RDWR, 0)
	if err != nil {
		return
	}
	b := &beside{log: log}
	var indexErr error
	b.logInfo, err = log.Stat()
	b.indexInfo, indexErr = os.Stat(h.indexPath)
	if errors.Join(err, indexErr) != nil {
		_ = log.Close() // nothing was written
		return
	}
	h.beside.Store(b)
}

// disconnected forgets them.
func (h *health) disconnected() {
	if b := h.beside.Swap(nil); b != nil {
		_ = b.log.Close() // nothing that matters was written
	}
}

// check returns an error that is store.ErrUnavailable if the path does not lead to
// the open file any more, or the file or the log does not hold what was written:
// nobody would see again what is written to it.
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
	}
	if err := h.checkContent(); err != nil {
		return err
	}
	if err := h.checkLog(); err != nil {
		return err
	}
	return h.checkBeside()
}

// duringCheckpoint runs a checkpoint of this process, and then looks at what it has
// written.
func (h *health) duringCheckpoint(checkpoint func()) {
	h.mu.Lock()
	checkpoint()
	h.mu.Unlock()
	_ = h.checkContent() // which reports it again
}

const (
	// contentLooks is how often content that is not right is looked at, each after
	// contentPause: another process may be in the middle of a checkpoint, or of
	// beginning the log anew.
	contentLooks = 20
	contentPause = time.Millisecond
)

// checkContent returns an error if what the open file holds was not written by this
// program since it was opened. It can't see a change in the middle of the file.
func (h *health) checkContent() error {
	if h.opened == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checkContentLocked()
}

// checkContentAtOnce is checkContent, except that it reports nothing new during a
// checkpoint or while another goroutine looks: readers don't wait.
func (h *health) checkContentAtOnce() error {
	if h.opened == nil {
		return nil
	}
	if lost := h.lostContent.Load(); lost != nil {
		return lost
	}
	if !h.mu.TryLock() {
		return nil
	}
	defer h.mu.Unlock()
	return h.checkContentLocked()
}

func (h *health) checkContentLocked() error {
	if lost := h.lostContent.Load(); lost != nil {
		return lost
	}
	for n := 1; ; n++ {
		now, err := lookAt(h.handle.file)
		if err == nil && now == h.seen {
			return nil
		}
		var l log
		if err == nil {
			now, l, err = examine(h.handle, h.logPath)
		}
		if errors.Is(err, os.ErrClosed) {
			return ErrClosed
		}
		if err != nil {
			return fmt.Errorf("%w: read %s: %w", store.ErrUnavailable, h.path, err)
		}
		reason := h.judge(now, l)
		if reason == "" {
			h.seen, h.seenProgress = now, l.progress
			return nil
		}
		if n == contentLooks {
			lost := h.lost(reason)
			h.lostContent.Store(lost)
			return lost
		}
		time.Sleep(contentPause)
	}
}

// judge returns why a file that has changed does not hold what this program has
// written to it.
func (h *health) judge(now look, l log) (reason string) {
	switch {
	case now.size < h.seen.size && (now.header == h.seen.header || now.size == 0 || now.size < now.pages()*pageSize):
		return "was truncated while it was open; stop the server and restore a backup"
	case now.size < h.seen.size:
		return replacedReason // this program never makes it shorter
	case now.header == h.seen.header:
		if l.progress == h.seenProgress && l.moved == l.attempted {
			return replacedReason // by the same content, to go back to it: there was no checkpoint
		}
	case h.seen.isUnnumbered():
	case now.instance() != h.seen.instance(), !isLater(now.generation(), h.seen.generation()):
		return replacedReason
	}
	if !l.fits(now.header) {
		return replacedReason
	}
	return ""
}

const replacedReason = "was overwritten with other content while it was open; restart the server to go on with that content"

// checkLog returns an error if the log has lost what was committed to it.
func (h *health) checkLog() error {
	b := h.beside.Load()
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.recorded || b.checkpoints {
		return nil
	}
	prefix, size, err := readPrefix(b.log)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if size >= b.size && prefix == b.prefix {
		return nil
	}
	// It begins anew only after a checkpoint, which changes the file's header.
	now, err := lookAt(h.handle.file)
	if err != nil || now.header != b.main {
		return err
	}
	return h.lost("has a -wal file beside it that was truncated or overwritten while it was open; changes are lost: stop the server and restore a backup")
}

func readPrefix(log *os.File) (prefix [logHeaderSize]byte, size int64, err error) {
	info, err := log.Stat()
	if err != nil {
		return prefix, 0, err
	}
	_, _ = log.ReadAt(prefix[:], 0) // one that is empty has none
	return prefix, info.Size(), nil
}

// committed records the log after a commit, or after a checkpoint of all of it.
func (h *health) committed(checkpoint bool) {
	b := h.beside.Load()
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	main, err := lookAt(h.handle.file) // first: a log that begins anew later is not recorded with a later header
	if err == nil {
		b.main = main.header
		b.prefix, b.size, err = readPrefix(b.log)
	}
	b.recorded, b.checkpoints = err == nil, checkpoint
}

// checkBeside compares the files beside the database with their paths once in a
// while: unlike the file itself they are lost for good only if the process is killed.
func (h *health) checkBeside() error {
	b := h.beside.Load()
	if b == nil || !due(&h.besideSeen) {
		return nil
	}
	if isAt(h.logPath, b.logInfo) && isAt(h.indexPath, b.indexInfo) || h.beside.Load() != b {
		return nil
	}
	h.besideSeen.Store(0) // they stay lost, for the next caller too
	return h.lost("has lost the -wal file or the -shm file beside it while it was open; stop the server with SIGTERM, which saves what was in it, and start it again")
}

func isAt(path string, file os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, file)
}

func isFree(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func (h *health) lost(reason string) *store.LostError {
	return &store.LostError{Path: h.path, Reason: reason}
}

// mayCheckpoint returns an error if the log must not be moved into the file.
func (h *health) mayCheckpoint() error {
	if h.opened == nil {
		return nil
	}
	if err := h.checkContent(); err != nil {
		return err
	}
	if err := h.checkLog(); err != nil {
		return err
	}
	if b := h.beside.Load(); b == nil || isAt(h.logPath, b.logInfo) || isFree(h.logPath) {
		return nil // nobody has begun another log
	}
	return h.lost("has another -wal file beside it than the one that was opened; changes are lost")
}

// closing is called before the last connection is closed, which moves the log into
// the file. If that must not be it returns why, and takes the log's content away from
// SQLite, into another file. The caller calls closed when the connections are.
func (h *health) closing() (closed func() error, lost error) {
	lost = h.mayCheckpoint()
	b := h.beside.Load()
	if lost == nil || b == nil {
		return func() error { h.disconnected(); return nil }, lost
	}
	aside, err := copyAside(b.log, h.logPath)
	if err != nil {
		return func() error { h.disconnected(); return nil }, errors.Join(lost, err)
	}
	return func() error {
		defer h.disconnected()
		if !isAt(h.logPath, b.logInfo) && !isFree(h.logPath) { // SQLite removes an empty one
			return nil
		}
		if isAt(h.indexPath, b.indexInfo) {
			err = ignoreMissing(os.Remove(h.indexPath))
		}
		if now, lookErr := lookAt(h.handle.file); h.lostContent.Load() != nil && lookErr == nil && now.isWhole() {
			// Other content is there, perhaps in place of what was truncated before.
			return errors.Join(err, ignoreMissing(os.Remove(h.logPath)))
		}
		return errors.Join(err, os.Rename(aside, h.logPath)) // it still belongs to what is left of the file
	}, lost
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

// explain makes an error store.ErrUnavailable if the file or the disk is to blame,
// and the next attempt may succeed.
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

// pause is how long a result is believed where finding it costs much.
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
	h.besideSeen.Store(0) // costs little here
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

// rewrite is an update that changes nothing but the generation.
func rewrite(_ context.Context, q sqlstore.Querier) error {
	q.(*transaction).wrote = true
	return nil
}
