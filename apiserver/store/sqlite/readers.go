package sqlite

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// maxReaders limits the memory of concurrent readers, and suffices to keep the processors busy.
var maxReaders = int64(max(16, 2*runtime.GOMAXPROCS(0)))

// readers runs read transactions, each on a connection that can't write.
type readers struct {
	with   settings
	health *health
	slots  *semaphore.Weighted

	mu     sync.Mutex
	closed bool
	// idle holds the connections without a view. The last one is used next, so that the caches of
	// the others stay small.
	idle []*session
}

// view runs fn on a snapshot. It fails if the file was replaced, because a token that was revoked in
// the new file must not work here.
func (r *readers) view(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if err := r.slots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.slots.Release(1)
	return r.viewNow(ctx, fn)
}

// viewNow is view without waiting for a slot, for health checks.
func (r *readers) viewNow(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) (err error) {
	// First: a new connection to a replaced file would use the open file's -wal, and delete it.
	if err := r.health.check(); err != nil {
		return err
	}
	s, err := r.session(ctx)
	if err != nil {
		return err
	}
	keep := false
	defer func() { // also if fn panics
		if !keep || s.exec(`ROLLBACK`) != nil {
			_ = s.close() // an error does not concern the rows that were read
			return
		}
		r.mu.Lock()
		r.idle = append(r.idle, s)
		r.mu.Unlock()
	}()
	if err := s.exec(`BEGIN`); err != nil {
		return err
	}
	keep = true
	return fn(ctx, &transaction{session: s})
}

// session returns an idle connection or a new one.
func (r *readers) session(ctx context.Context) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, store.ErrClosed
	}
	if last := len(r.idle) - 1; last >= 0 {
		s := r.idle[last]
		r.idle = r.idle[:last]
		return s, nil
	}
	return connect(ctx, r.health.path, r.with)
}

// close waits for the readers and closes the connections.
func (r *readers) close() (err error) {
	_ = r.slots.Acquire(context.Background(), maxReaders) // no error: the context never ends
	defer r.slots.Release(maxReaders)                     // for views that begin later
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, s := range r.idle {
		err = errors.Join(err, s.close())
	}
	return err
}
