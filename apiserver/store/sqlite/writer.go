package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

const (
	// maxGroup and maxGroupTime limit how long a group's first update waits for the commit.
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond

	checkpointFrames = 1000
)

// writer runs the updates of this process one after another, and commits waiting updates together.
type writer struct {
	path   string
	opts   Options
	health *health

	// session is nil after an error, until the next group opens another connection.
	session *session
	// logIsEmpty means that emptyLog succeeded since the path last led to the open file.
	logIsEmpty bool
	updates    *queue
	stopped    chan struct{}

	// inFlight is locked for reading by each update, and for writing by stop.
	inFlight sync.RWMutex
	closed   bool
}

// update is a caller's update in the queue.
type update struct {
	*sqlstore.Turn[*session]
	wrote bool // whether the function wrote; set by the caller
}

// update queues fn and returns the result of its commit. Once fn has begun, update ignores the end
// of the context, so that the outcome is known.
func (w *writer) update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	w.inFlight.RLock()
	defer w.inFlight.RUnlock()
	if w.closed {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{Turn: sqlstore.NewTurn[*session]()}
	w.updates.push(store.AccountOf(ctx), u)
	err := u.Await(ctx, func(ctx context.Context, s *session) error {
		t := &transaction{session: s}
		err := fn(ctx, t)
		u.wrote = t.wrote
		return cmp.Or(err, t.failed)
	})
	return w.health.note(err)
}

// run processes updates until the writer is stopped.
func (w *writer) run() {
	defer close(w.stopped)
	for u := w.updates.take(true); u != nil; u = w.updates.take(true) {
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
			u.Finish(nil) // no uncommitted write can be the reason of its failure
		}
		if err != nil || n == w.opts.maxGroup || time.Now().After(end) {
			break
		}
		u = w.updates.take(false)
	}
	if err == nil {
		err = w.commit(wrote)
	}
	if err != nil && w.session.exec(`ROLLBACK`) != nil {
		w.abandon() // its state is unknown
	}
	for _, u := range waiting {
		u.Finish(err)
	}
}

// refuse fails an update that could not begin, and all waiting updates: they would fail in the
// same way after the same time.
func (w *writer) refuse(u *update, err error) {
	var refused []*update
	for ; u != nil; u = w.updates.take(false) {
		refused = append(refused, u)
	}
	for _, u := range refused {
		u.Finish(err)
	}
}

// runOne runs an update within the group, and reports whether the update succeeded. An error means
// that the whole group can't be committed.
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

// begin takes the write lock, waiting for other processes.
func (w *writer) begin() error {
	if err := w.health.check(); err != nil {
		w.emptyLog()
		return err
	}
	w.logIsEmpty = false
	if w.session == nil {
		s, err := connect(context.Background(), w.path, w.opts.toWrite())
		if err != nil {
			return err
		}
		if err := w.health.check(); err != nil { // it may have opened another file
			return errors.Join(err, s.close())
		}
		w.session = s
	}
	err := whileBusy(w.opts.LockTimeout, func() error { return w.session.exec(`BEGIN IMMEDIATE`) })
	if isBusy(err) {
		return fmt.Errorf("%w: another process has been writing to %s for %s; try again when it has ended: %w", store.ErrLocked, w.path, w.opts.LockTimeout, err)
	}
	if err != nil {
		w.abandon()
		return fmt.Errorf("begin an update: %w", err)
	}
	return nil
}

// commit commits the group if the path still leads to the file.
func (w *writer) commit(wrote bool) error {
	if err := w.health.check(); err != nil {
		return err
	}
	if !wrote {
		// Not COMMIT, which would write pages that failed updates changed and restored.
		return w.session.exec(`ROLLBACK`)
	}
	if err := whileBusy(w.opts.LockTimeout, func() error { return w.session.exec(`COMMIT`) }); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// emptyLog copies the log into the open file after the path stopped leading to it, and empties the
// log: SQLite would apply it to the file now at the path. emptyLog does so once, because the log may
// belong to another process afterwards.
func (w *writer) emptyLog() {
	if w.session != nil && !w.logIsEmpty {
		frames, err := w.session.checkpoint()
		w.logIsEmpty = err == nil && frames == 0
	}
}

// checkpoint runs a checkpoint that truncates the log, and returns the number of frames left in it.
func (s *session) checkpoint() (frames int, err error) {
	var busy, moved int
	err = sqlstore.ScanRow(context.Background(), s, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &moved)
	return frames, err
}

// abandon closes the connection, with its transaction.
func (w *writer) abandon() {
	_ = w.session.close() // an error can't make it worse
	w.session = nil
}

// stop refuses new updates, and waits for updates in flight.
func (w *writer) stop() {
	w.inFlight.Lock()
	defer w.inFlight.Unlock()
	w.closed = true
	w.updates.close()
	<-w.stopped
}

// close checkpoints the log as far as other processes allow, and closes the connection.
func (w *writer) close() error {
	if w.session == nil {
		return nil
	}
	w.emptyLog()
	return w.session.close()
}

// whileBusy retries while another connection holds the lock or the file is being replaced.
func whileBusy(timeout time.Duration, try func() error) error {
	for end := time.Now().Add(timeout); ; time.Sleep(time.Millisecond) {
		if err := try(); !isBusy(err) && !errors.Is(err, errReplaced) || time.Now().After(end) {
			return err
		}
	}
}
