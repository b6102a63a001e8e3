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
	// maxGroup and maxGroupTime bound how long the first update of a group waits for
	// the commit.
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond

	checkpointFrames = 1000
)

// writer runs the updates of this process one after another. It commits updates that
// wait at the same time together.
type writer struct {
	file        file
	lockTimeout time.Duration
	maxGroup    int
	health      *health
	// checkpointFrames is the length of the log from which on it is checkpointed.
	checkpointFrames int

	// session is nil after an error, until the next group opens another one.
	session *session
	updates chan *update
	stopped chan struct{}

	// inFlight is locked for reading by each update, and for writing by stop.
	inFlight sync.RWMutex
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

// update queues fn and returns the result of its commit. Once fn has begun, the end of
// the context is ignored, so that the outcome is always known.
func (w *writer) update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	w.inFlight.RLock()
	defer w.inFlight.RUnlock()
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

// run processes updates until the writer is stopped.
func (w *writer) run() {
	defer close(w.stopped)
	for u := range w.updates {
		w.group(u)
	}
}

// group runs an update, and others that arrive meanwhile, in one transaction.
func (w *writer) group(u *update) {
	if err := w.begin(); err != nil {
		w.refuse(u, err)
		return
	}
	var waiting []*update // for the commit
	var err error
	wrote := false
	end := time.Now().Add(maxGroupTime)
	for n := 1; u != nil; n++ {
		if err = w.session.exec(`SAVEPOINT one`); err != nil {
			u.Finish(err)
			break
		}
		var ok bool
		if ok, err = w.runOne(u); ok || wrote {
			waiting, wrote = append(waiting, u), wrote || ok && u.wrote
		} else {
			u.Finish(nil) // it failed for nothing that is not committed
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
	for _, u := range waiting {
		u.Finish(err)
	}
	if err == nil && wrote {
		w.checkpointIfLong()
	}
}

// refuse fails an update that could not begin, and those that wait: they would fail in
// the same way after the same time.
func (w *writer) refuse(u *update, err error) {
	for range w.maxGroup {
		if u == nil {
			return
		}
		u.Finish(err)
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

// runOne runs an update within the group, and ends its savepoint. It reports whether the update
// is to be committed, and returns an error if the whole group can't be.
func (w *writer) runOne(u *update) (ok bool, err error) {
	ok = u.Begin() && u.Run(w.session)
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
		return fmt.Errorf("another process has been writing to %s for %s; try again when it has ended: %w", w.file.path, w.lockTimeout, err)
	}
	if err != nil {
		w.abandon()
		return fmt.Errorf("begin an update: %w", err)
	}
	w.health.connected()
	return nil
}

// commit commits the group if the file is still the same.
func (w *writer) commit(wrote bool) error {
	if err := w.health.check(); err != nil {
		return err
	}
	if !wrote {
		// Not COMMIT: it would write the pages that failed updates have changed and
		// restored, without a new generation.
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

// tooLateError means that the file was lost while a transaction was committed to it.
type tooLateError struct{ error }

func (e *tooLateError) Unwrap() error { return e.error }

// checkpointIfLong checkpoints a long log. SQLite would do that by itself, but without
// checking the file. A failed checkpoint is retried after the next commit.
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

// checkpoint runs a checkpoint and returns how many frames the log has, and how many
// of them checkpoints have copied.
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

// rolledBack reports whether the connection can be kept after an error. A lost file's
// connection is kept, because it may be the last one to the file.
func (w *writer) rolledBack(err error) bool {
	if _, committed := errors.AsType[*tooLateError](err); committed {
		return true
	}
	return errors.Is(err, store.ErrUnavailable) && w.session.exec(`ROLLBACK`) == nil
}

// abandon closes the connection, whose state is unknown, with its transaction.
func (w *writer) abandon() {
	afterClose, _ := w.health.beforeClose()
	_ = errors.Join(w.session.close(), afterClose()) // an error can't make it worse
	w.session = nil
}

// stop waits for updates in flight.
func (w *writer) stop() {
	w.inFlight.Lock()
	defer w.inFlight.Unlock()
	w.closed = true
	close(w.updates)
	<-w.stopped
}

// close closes the connection. If it may, it first checkpoints the log as far as other
// processes let it.
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

// whileBusy retries while another connection has the lock, until the timeout.
func whileBusy(timeout time.Duration, try func() error) error {
	for end := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		if err := try(); !isBusy(err) || time.Now().After(end) {
			return err
		}
	}
}
