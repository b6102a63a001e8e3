package sqlite

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// maxReaders bounds the memory of concurrent readers. It keeps the processors and the disk
// busy: no reader waits for a client.
var maxReaders = max(16, 2*runtime.GOMAXPROCS(0))

// readers runs read transactions, each on a connection that can't write.
type readers struct {
	path   string
	with   settings
	health *health
	slots  chan struct{}
	closed chan struct{}

	mu sync.Mutex
	// idle are connections without a view. The last one is used next: its cache has what
	// was read before, and the others stay small.
	idle []*session
}

func newReaders(f file, h *health, lockTimeout time.Duration) *readers {
	return &readers{
		path:   f.path,
		with:   f.readOnly(lockTimeout),
		health: h,
		slots:  make(chan struct{}, maxReaders),
		closed: make(chan struct{}),
	}
}

// view runs fn on a snapshot, which begins with its first statement. It does not read
// replaced content, which SQLite would mix with cached pages, nor a file that was replaced: what
// was revoked in the other one must not work here.
func (r *readers) view(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) (err error) {
	s, err := r.acquire(ctx)
	if err != nil {
		return err
	}
	if err := r.health.checkToRead(); err != nil {
		r.release(s)
		return err
	}
	if err := s.exec(`BEGIN`); err != nil {
		r.discard(s)
		return err
	}
	defer func() { // also if fn panics
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
	r.mu.Lock()
	if last := len(r.idle) - 1; last >= 0 {
		s := r.idle[last]
		r.idle = r.idle[:last]
		r.mu.Unlock()
		return s, nil
	}
	r.mu.Unlock()
	s, err := r.connect(ctx)
	if err != nil {
		<-r.slots
	}
	return s, err
}

// connect opens a connection to the file that the other connections have open, not to
// one that has replaced it.
func (r *readers) connect(ctx context.Context) (*session, error) {
	if err := r.health.check(); err != nil {
		return nil, err
	}
	s, err := connect(ctx, r.path, r.with)
	if err == nil {
		s.remembered = new(remembered)
	}
	return s, err
}

func (r *readers) release(s *session) {
	r.mu.Lock()
	r.idle = append(r.idle, s)
	r.mu.Unlock()
	<-r.slots
}

// discard closes a connection. An error has no meaning for what was read.
func (r *readers) discard(s *session) {
	_ = s.close()
	<-r.slots
}

// close waits for the readers and closes the connections.
func (r *readers) close() error {
	close(r.closed)
	for range maxReaders {
		r.slots <- struct{}{}
	}
	var errs []error
	for _, s := range r.idle {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
