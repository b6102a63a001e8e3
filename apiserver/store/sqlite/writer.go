package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

const (
	// maxGroup and maxGroupTime bound how long the first update of a group waits
	// for the others.
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond

	checkpointFrames = 1000
)

// writer runs the updates of this process, one after another, and commits those
// that wait at the same time together.
type writer struct {
	file        file
	lockTimeout time.Duration
	maxGroup    int
	health      *health
	// checkpointFrames is from which length on the log is moved into the file.
	checkpointFrames int

	// session is nil after it failed, until the next group opens another.
	session *session
	updates chan *update
	stopped chan struct{}

	// underWay is held for reading by each update, and by close.
	underWay sync.RWMutex
	closed   bool
}

func newWriter(f file, s *session, h *health, opts Options) *writer {
	return &writer{
		file:        f,
		lockTimeout: opts.LockTimeout,
		maxGroup:    opts.maxGroup,
		health:      h,

		checkpointFrames: opts.checkpointFrames,
		session:          s,
		updates:          make(chan *update),
		stopped:          make(chan struct{}),
	}
}

// update hands fn over to the writer and returns what became of it. Once fn has
// begun it waits for the commit, so that its answer is never a guess.
func (w *writer) update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	w.underWay.RLock()
	defer w.underWay.RUnlock()
	if w.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	u := newUpdate()
	select {
	case w.updates <- u:
		err := u.await(ctx, fn)
		return w.health.note(err, u.wrote)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run serves updates until the writer is closed.
func (w *writer) run() {
	defer close(w.stopped)
	for u := range w.updates {
		w.group(u)
	}
}

// group runs an update and those that wait meanwhile in one transaction.
func (w *writer) group(u *update) {
	if err := w.begin(); err != nil {
		w.refuse(u, err)
		return
	}
	var kept []*update
	var err error
	wrote := false
	end := time.Now().Add(maxGroupTime)
	for n := 1; u != nil; n++ {
		var ok bool
		if ok, err = w.runOne(u); ok {
			kept, wrote = append(kept, u), wrote || u.wrote
		}
		if err != nil || n == w.maxGroup || time.Now().After(end) {
			break
		}
		u = w.next()
	}
	if err == nil {
		err = w.commit(wrote)
	}
	if err != nil && !w.rolledBack(err) {
		w.abandon()
	}
	for _, u := range kept {
		u.finish(err)
	}
	if err == nil && wrote {
		w.checkpointIfLong()
	}
}

// refuse answers an update that could not begin, and those that wait: none of
// them would fare better, and each would take as long to find out.
func (w *writer) refuse(u *update, err error) {
	for range w.maxGroup {
		if u == nil {
			return
		}
		u.finish(err)
		u = w.next()
	}
}

// next returns an update that waits, or nil.
func (w *writer) next() *update {
	select {
	case u := <-w.updates:
		return u
	default:
		return nil
	}
}

// runOne runs an update within the group. It reports whether the update is to be
// kept, and an error where the whole group is lost.
func (w *writer) runOne(u *update) (kept bool, err error) {
	if !u.begin() {
		return false, nil
	}
	if err := w.session.exec(`SAVEPOINT one`); err != nil {
		u.finish(err)
		return false, err
	}
	ok := u.run(w.session)
	if !ok {
		if err := w.session.exec(`ROLLBACK TO one`); err != nil {
			return false, fmt.Errorf("another update of the same commit failed: %w", err)
		}
	}
	if err := w.session.exec(`RELEASE one`); err != nil {
		return ok, fmt.Errorf("end an update: %w", err)
	}
	return ok, nil
}

// begin takes the write lock, and waits for other processes that hold it.
func (w *writer) begin() error {
	if err := w.health.checkContent(); err != nil {
		return err
	}
	if w.session == nil {
		if err := w.health.check(); err != nil {
			return err
		}
		s, err := connect(context.Background(), w.file.path, w.file.writable())
		if err != nil {
			return openError(w.file.path, err)
		}
		w.session = s
	}
	err := whileBusy(w.lockTimeout, func() error { return w.session.exec(`BEGIN IMMEDIATE`) })
	if isBusy(err) {
		return fmt.Errorf("another process has been writing to %s for %s: %w", w.file.path, w.lockTimeout, err)
	}
	if err != nil {
		w.abandon()
		return fmt.Errorf("begin an update: %w", err)
	}
	w.health.connected()
	return nil
}

// commit makes the group durable, in a file that is still there and was not replaced
// meanwhile.
func (w *writer) commit(wrote bool) error {
	if err := w.health.check(); err != nil {
		return err
	}
	if !wrote {
		// Not COMMIT, which would write the pages that failed updates have changed and
		// changed back, without a new generation.
		return w.session.exec(`ROLLBACK`)
	}
	if err := w.session.advance(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := whileBusy(w.lockTimeout, func() error { return w.session.exec(`COMMIT`) }); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	w.health.committed()
	if err := w.health.checkContent(); err != nil {
		return &tooLateError{err}
	}
	return nil
}

// tooLateError reports that a file was lost while a transaction was committed to it.
type tooLateError struct{ error }

func (e *tooLateError) Unwrap() error { return e.error }

// checkpointIfLong moves the log into the file. SQLite would do that by itself, but
// without a look at the file. What fails is tried again after the next commit.
func (w *writer) checkpointIfLong() {
	frames, moved, err := w.session.checkpoint(`NOOP`)
	if err != nil || frames < w.checkpointFrames || moved == frames || w.health.check() != nil {
		return
	}
	w.health.checkpoint(func() (complete bool) {
		frames, moved, err := w.session.checkpoint(`PASSIVE`)
		return err == nil && moved == frames
	})
}

// checkpoint runs a checkpoint and returns how many frames the log has and how many
// of them are in the file.
func (s *session) checkpoint(mode string) (frames, moved int, err error) {
	rows, err := s.QueryContext(context.Background(), `PRAGMA wal_checkpoint(`+mode+`)`)
	if err != nil {
		return 0, 0, err
	}
	var busy int
	for rows.Next() {
		err = rows.Scan(&busy, &frames, &moved)
	}
	return frames, moved, errors.Join(err, rows.Close(), rows.Err())
}

// rolledBack keeps the connection to a file that is lost, since it may be the
// last that has it.
func (w *writer) rolledBack(err error) bool {
	if _, committed := errors.AsType[*tooLateError](err); committed {
		return true
	}
	return errors.Is(err, store.ErrUnavailable) && w.session.exec(`ROLLBACK`) == nil
}

// abandon gives up a transaction with its connection, whose state is not known.
func (w *writer) abandon() {
	afterClose, _ := w.health.beforeClose()
	_ = errors.Join(w.session.close(), afterClose()) // an error can't make it worse
	w.session = nil
}

// stop waits for the updates under way, the waiting ones too.
func (w *writer) stop() {
	w.underWay.Lock()
	defer w.underWay.Unlock()
	w.closed = true
	close(w.updates)
	<-w.stopped
}

// close closes the connection, and before moves the log into the file as far as other
// processes let it, if it may.
func (w *writer) close(mayCheckpoint bool) error {
	if w.session == nil {
		return nil
	}
	if !mayCheckpoint {
		return w.session.close()
	}
	_, _, err := w.session.checkpoint(`TRUNCATE`)
	if isBusy(err) {
		err = nil
	}
	return errors.Join(err, w.session.close())
}

// whileBusy calls try until it gets the lock or the time is over.
func whileBusy(timeout time.Duration, try func() error) error {
	for end := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		if err := try(); !isBusy(err) || time.Now().After(end) {
			return err
		}
	}
}
