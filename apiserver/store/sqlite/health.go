package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	zombiezen "zombiezen.com/go/sqlite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// health is whether the store can keep what is written. It is safe for concurrent
// use.
type health struct {
	monitor
	// failure is the error of the last update that wrote, if the file or the disk
	// caused it, and probed when that was last found, in Unix nanoseconds.
	failure atomic.Pointer[error]
	probed  atomic.Int64
}

// note records the outcome of an update and returns its error, as one that is
// store.ErrUnavailable if the file or the disk caused it.
func (h *health) note(err error, wrote bool) error {
	if err == nil {
		if wrote && h.failure.Load() != nil {
			h.failure.Store(nil)
		}
		return nil
	}
	if err = h.explain(err); errors.Is(err, store.ErrUnavailable) {
		h.probed.Store(time.Now().UnixNano())
		h.failure.Store(&err)
	}
	return err
}

// explain makes an error store.ErrUnavailable if the file or the disk caused it and
// the next attempt may succeed.
func (h *health) explain(err error) error {
	var advice string
	switch code(err) {
	case zombiezen.ResultNotADB, zombiezen.ResultCorrupt:
		lost := h.check()
		if lost == nil {
			lost = h.markDamaged()
		}
		if lost != nil {
			return fmt.Errorf("%w: %w", lost, err)
		}
	case zombiezen.ResultFull:
		advice = "its disk is full; free some space"
	case zombiezen.ResultReadOnly, zombiezen.ResultCantOpen:
		advice = "make it, its directory and the -wal and -shm files beside it writable"
	case zombiezen.ResultIOErr:
		advice = "check its disk, and limits on its size"
	}
	if advice == "" || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: the database file %s can't be used: %s: %w", store.ErrUnavailable, h.path, advice, err)
}

// checkInterval is how long the result of a costly check is used.
const checkInterval = time.Second

// due reports whether the caller, and nobody else, is to run a check that last ran
// at a time in Unix nanoseconds, which it updates.
func due(last *atomic.Int64) bool {
	then, now := last.Load(), time.Now()
	return now.Sub(time.Unix(0, then)).Abs() >= checkInterval && last.CompareAndSwap(then, now.UnixNano())
}

// Ping implements store.Store. After an update that could not be kept it fails until
// one succeeds. Since nobody sends updates to a store that is not ready, it tries one
// that changes nothing itself.
func (s *Store) Ping(ctx context.Context) error {
	w, h := s.engine.writer, &s.engine.health
	h.pathsChecked.Store(0) // costs little here
	if err := h.check(); err != nil {
		return err
	}
	if failure := h.failure.Load(); failure != nil && w != nil {
		if !due(&h.probed) {
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
