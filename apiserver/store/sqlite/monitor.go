package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// monitor notices that a file which is open was moved, replaced, truncated or
// overwritten, as the package comment explains. It is safe for concurrent use. The
// zero value monitors nothing.
type monitor struct {
	path, walPath, indexPath string
	// opened is the file at path when it was opened; nil if nothing is monitored.
	opened os.FileInfo
	file   *sharedFile

	mu sync.Mutex
	// verified is the state that the content had when it was last found right, and
	// verifiedProgress the checkpoints' progress then or just before.
	verified         fileState
	verifiedProgress checkpointProgress
	// lostContent is why the content is wrong. It stays wrong.
	lostContent atomic.Pointer[store.LostError]

	// lostWAL is why the log is wrong. It stays wrong: SQLite would go on without the
	// changes that it has lost.
	lostWAL atomic.Pointer[store.LostError]

	// wal is set while the writer has a connection.
	wal atomic.Pointer[openWAL]
	// pathsChecked is when wal was last compared with the paths, in Unix nanoseconds.
	pathsChecked atomic.Int64
}

// openWAL is the log of the writer's connection.
type openWAL struct {
	*os.File
	info, indexInfo os.FileInfo

	mu sync.Mutex
	// last is the log after the last commit; nil if the file has all of it.
	last *walState
}

// walState is what a log must still have or begin with, unless a checkpoint has
// changed the header of the database file.
type walState struct {
	start    [walHeaderSize]byte
	size     int64
	database header
}

// watch starts monitoring an open file, unless its content need not last.
func (m *monitor) watch(f file) (err error) {
	if f.volatile {
		return nil
	}
	real, err := filepath.EvalSymlinks(f.path) // SQLite keeps the log beside that
	if err != nil {
		return err
	}
	if m.file, err = openShared(f.path); err != nil {
		return err
	}
	m.path, m.walPath, m.indexPath, m.opened = f.path, real+"-wal", real+"-shm", m.file.info
	now, w, err := inspect(m.file, m.walPath)
	m.verified, m.verifiedProgress = now, w.checkpointProgress
	return err
}

// connected opens the log of a connection that has read or written. SQLite keeps it
// until the connection is closed, and holds no locks on it, so that it can be closed
// here.
func (m *monitor) connected() {
	if m.opened == nil || m.wal.Load() != nil {
		return
	}
	f, err := os.OpenFile(m.walPath, os.O_RDWR, 0)
	if err != nil {
		return
	}
	info, err := f.Stat()
	indexInfo, indexErr := os.Stat(m.indexPath)
	if errors.Join(err, indexErr) != nil {
		_ = f.Close() // nothing was written
		return
	}
	m.wal.Store(&openWAL{File: f, info: info, indexInfo: indexInfo})
}

// disconnected closes the log.
func (m *monitor) disconnected() {
	if w := m.wal.Swap(nil); w != nil {
		_ = w.Close() // nothing that matters was written
	}
}

// committed records the log after a commit.
func (m *monitor) committed() {
	w := m.wal.Load()
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = nil
	database, err := readState(m.file.File) // first: a log that begins anew later is not recorded with a later header
	if err != nil {
		return
	}
	if start, size, err := w.read(); err == nil {
		w.last = &walState{start, size, database.header}
	}
}

// checkpoint runs a checkpoint of this process, which reports whether it has copied
// all of the log, and then checks what it has written.
func (m *monitor) checkpoint(run func() (complete bool)) {
	m.mu.Lock()
	if w := m.wal.Load(); run() && w != nil {
		w.mu.Lock()
		w.last = nil
		w.mu.Unlock()
	}
	m.mu.Unlock()
	_ = m.checkContent() // the next check reports it again
}

// check returns an error that is store.ErrUnavailable if the path does not lead to
// the open file, or the file or the log does not hold what was written: nobody would
// read again what is written to it.
func (m *monitor) check() error {
	if m.opened == nil {
		return nil
	}
	if err := m.checkPath(); err != nil {
		return err
	}
	if err := m.checkContent(); err != nil {
		return err
	}
	if err := m.checkWAL(); err != nil {
		return err
	}
	return m.checkPaths()
}

// checkPath returns an error if the path does not lead to the open file.
func (m *monitor) checkPath() error {
	info, err := os.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m.lost("was removed or moved while it was open; put it back, or stop the server and restore a backup")
	case err != nil:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err) // which names the path
	case !os.SameFile(info, m.opened):
		return m.lost("was replaced by another file while it was open; put it back, or restart the server with the other one")
	}
	return nil
}

// checkContent returns an error if something else than this program has written to
// the open file.
func (m *monitor) checkContent() error {
	if m.opened == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.verify()
}

// checkToRead is check for readers, which don't wait: during a checkpoint or another
// goroutine's check it reports of the content only what is known already.
func (m *monitor) checkToRead() error {
	if m.opened == nil {
		return nil
	}
	if err := m.checkPath(); err != nil {
		return err
	}
	if lost := m.lostContent.Load(); lost != nil {
		return lost
	}
	if !m.mu.TryLock() {
		return nil
	}
	defer m.mu.Unlock()
	return m.verify()
}

const (
	// inspections is how often content that seems wrong is inspected, with
	// inspectionPause between: another process may be in the middle of a checkpoint or
	// of beginning the log anew.
	inspections     = 20
	inspectionPause = time.Millisecond
)

// verify is checkContent for a caller that holds mu.
func (m *monitor) verify() error {
	if lost := m.lostContent.Load(); lost != nil {
		return lost
	}
	for n := 1; ; n++ {
		now, err := readState(m.file.File)
		if err == nil && now == m.verified {
			return nil
		}
		var w wal
		if err == nil {
			now, w, err = inspect(m.file, m.walPath)
		}
		if errors.Is(err, os.ErrClosed) {
			return ErrClosed
		}
		if err != nil {
			return fmt.Errorf("%w: read %s: %w", store.ErrUnavailable, m.path, err)
		}
		reason := m.foreign(now, w)
		if reason == "" {
			m.verified, m.verifiedProgress = now, w.checkpointProgress
			return nil
		}
		if n == inspections {
			lost := m.lost(reason)
			m.lostContent.Store(lost)
			return lost
		}
		time.Sleep(inspectionPause)
	}
}

// foreign returns why a change of the file is not one by this program, and "" if it
// may be.
func (m *monitor) foreign(now fileState, w wal) (reason string) {
	const (
		truncated   = "was truncated while it was open; stop the server and restore a backup"
		overwritten = "was overwritten with other content while it was open; restart the server to go on with that content"
	)
	was := m.verified
	switch {
	case now.size < was.size && (now.header == was.header || now.size == 0 || now.size < now.pages()*pageSize):
		return truncated
	case now.size < was.size: // this program never makes it shorter
		return overwritten
	case now.header == was.header:
		// Either a checkpoint wrote no header, or the file got back the content of the
		// last checkpoint.
		if w.checkpointProgress == m.verifiedProgress && w.backfilled == w.attempted {
			return overwritten
		}
	case was.isNew():
	case now.instance() != was.instance(), !isLater(now.generation(), was.generation()):
		return overwritten
	}
	if !w.belongsTo(now.header) {
		return overwritten
	}
	return ""
}

// checkWAL returns an error if the log has lost what was committed to it.
func (m *monitor) checkWAL() error {
	if lost := m.lostWAL.Load(); lost != nil {
		return lost
	}
	w := m.wal.Load()
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return nil
	}
	start, size, err := w.read()
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if size >= w.last.size && start == w.last.start {
		return nil
	}
	// It begins anew only after a checkpoint, which changes the file's header.
	now, err := readState(m.file.File)
	if err != nil || now.header != w.last.database {
		return err
	}
	lost := m.lost("has a -wal file beside it that was truncated or overwritten while it was open; changes are lost: stop the server and restore a backup")
	m.lostWAL.Store(lost)
	return lost
}

// read returns the header and the size of the log.
func (w *openWAL) read() (start [walHeaderSize]byte, size int64, err error) {
	info, err := w.Stat()
	if err != nil {
		return start, 0, err
	}
	_, _ = w.ReadAt(start[:], 0) // an empty one has no header
	return start, info.Size(), nil
}

const damaged = "is damaged; stop the server and restore a backup"

// markDamaged records that SQLite has found a damaged page, and returns the error from then
// on; nil if nothing is monitored.
func (m *monitor) markDamaged() error {
	if m.opened == nil {
		return nil
	}
	lost := m.lost(damaged)
	m.lostContent.Store(lost)
	return lost
}

// checkPaths compares the log and its index with their paths once in a while: they
// are lost for good only if the process is killed. Windows lets nobody remove or rename
// them while SQLite has them open.
func (m *monitor) checkPaths() error {
	w := m.wal.Load()
	if w == nil || runtime.GOOS == "windows" || !due(&m.pathsChecked) {
		return nil
	}
	if isAt(m.walPath, w.info) && isAt(m.indexPath, w.indexInfo) || m.wal.Load() != w {
		return nil
	}
	m.pathsChecked.Store(0) // the next caller finds them lost too
	return m.lost("has lost the -wal file or the -shm file beside it while it was open; stop the server with SIGTERM, which saves what was in it, and start it again")
}

// mayCheckpoint returns an error if the log must not be copied into the file.
func (m *monitor) mayCheckpoint() error {
	if m.opened == nil {
		return nil
	}
	if err := m.checkContent(); err != nil {
		return err
	}
	if err := m.checkWAL(); err != nil {
		return err
	}
	if w := m.wal.Load(); w == nil || isAt(m.walPath, w.info) || isFree(m.walPath) {
		return nil // nobody has begun another log
	}
	return m.lost("has another -wal file beside it than the one that was opened; changes are lost")
}

// usesForeignWAL reports whether the file was replaced and the log has nothing that is
// missing in the file: a process that has the other file open may use the same log.
func (m *monitor) usesForeignWAL() bool {
	w := m.wal.Load()
	if w == nil || m.checkPath() == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last == nil
}

// beforeClose is called before the connections are closed, and the function that it
// returns after that. SQLite copies the log into the file when the last connection is
// closed. If that must not happen, the error says why, and the log's content is moved
// to another file meanwhile.
func (m *monitor) beforeClose() (afterClose func() error, lost error) {
	lost = m.mayCheckpoint()
	w := m.wal.Load()
	// The log of a damaged file belongs to it, and other processes may need it.
	if content := m.lostContent.Load(); lost == nil || w == nil || content != nil && content.Reason == damaged {
		return func() error { m.disconnected(); return nil }, lost
	}
	aside, err := moveContentAside(w.File, m.walPath)
	if err != nil {
		return func() error { m.disconnected(); return nil }, errors.Join(lost, err)
	}
	return func() error {
		defer m.disconnected()
		if !isAt(m.walPath, w.info) && !isFree(m.walPath) { // SQLite removes an empty one
			return nil
		}
		if isAt(m.indexPath, w.indexInfo) {
			err = ignoreMissing(os.Remove(m.indexPath))
		}
		if now, stateErr := readState(m.file.File); m.lostContent.Load() != nil && stateErr == nil && now.isComplete() {
			// Other content is there, perhaps in place of what was truncated before.
			return errors.Join(err, ignoreMissing(os.Remove(m.walPath)))
		}
		return errors.Join(err, os.Rename(aside, m.walPath)) // it still belongs to what is left of the file
	}, lost
}

func (m *monitor) lost(reason string) *store.LostError {
	return &store.LostError{Path: m.path, Reason: reason}
}

func isAt(path string, file os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, file)
}

func isFree(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
