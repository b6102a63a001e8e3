package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

const (
	// maxReaders bounds the memory of many readers at once. It is far above what
	// keeps the processors busy, since a reader may wait for a slow client.
	maxReaders = 64
	// idleReaders is how many connections are kept for the next readers.
	idleReaders = 8
)

// readers runs read transactions, each on a connection that can't write.
type readers struct {
	path   string
	dsn    string
	health *health
	slots  chan struct{}
	idle   chan *session
	closed chan struct{}
}

func newReaders(f file, h *health, lockTimeout time.Duration) *readers {
	return &readers{
		path:   f.path,
		dsn:    f.readOnly(lockTimeout),
		health: h,
		slots:  make(chan struct{}, maxReaders),
		idle:   make(chan *session, idleReaders),
		closed: make(chan struct{}),
	}
}

// view runs fn on a snapshot, which is the one of its first statement. Content that
// was replaced is not read: it would be mixed with that before.
func (r *readers) view(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) (err error) {
	s, err := r.acquire(ctx)
	if err != nil {
		return err
	}
	if err := r.health.checkContentAtOnce(); err != nil {
		r.release(s)
		return err
	}
	if err := s.exec(`BEGIN`); err != nil {
		r.discard(s)
		return err
	}
	defer func() { // also where fn panics
		if s.exec(`ROLLBACK`) != nil {
			r.discard(s)
		} else {
			r.release(s)
		}
	}()
	return fn(ctx, &transaction{session: s})
}

func (r *readers) acquire(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-r.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case r.slots <- struct{}{}:
	case <-r.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case s := <-r.idle:
		return s, nil
	default:
	}
	s, err := r.connect(ctx)
	if err != nil {
		<-r.slots
	}
	return s, err
}

// connect opens a connection to the file that the others have open, and not to
// one that has taken its place.
func (r *readers) connect(ctx context.Context) (*session, error) {
	if err := r.health.check(); err != nil {
		return nil, err
	}
	return connect(ctx, r.path, r.dsn)
}

func (r *readers) release(s *session) {
	select {
	case r.idle <- s:
		<-r.slots
	default:
		r.discard(s)
	}
}

// discard closes a connection. An error would say nothing about what was read.
func (r *readers) discard(s *session) {
	_ = s.close()
	<-r.slots
}

// close waits until nobody reads and closes the connections.
func (r *readers) close() error {
	close(r.closed)
	for range maxReaders {
		r.slots <- struct{}{}
	}
	close(r.idle)
	var errs []error
	for s := range r.idle {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
