package auth

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// lastUsesFlushed is how long a use may wait to be written.
const lastUsesFlushed = time.Minute

// LastUses keeps in memory when service accounts were last used, to the minute, until a timer or
// Close writes it: authentication must not wait for the write lock. It is safe for concurrent
// use.
type LastUses struct {
	store store.Store
	log   *slog.Logger

	mu     sync.Mutex
	at     map[string]time.Time // by the id of the service account
	timer  *time.Timer          // nil while nothing is pending
	closed bool
	// flushing are the timer's writes, for Close.
	flushing sync.WaitGroup
}

// NewLastUses returns LastUses that writes to s.
func NewLastUses(s store.Store, log *slog.Logger) *LastUses {
	return &LastUses{store: s, log: log, at: map[string]time.Time{}}
}

// Of returns when a service account was last used, written or not.
func (l *LastUses) Of(a store.ServiceAccount) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.at[a.ID]; at.After(a.LastUsedAt) {
		return at
	}
	return a.LastUsedAt
}

func (l *LastUses) note(a store.ServiceAccount, now time.Time) {
	minute := now.Truncate(time.Minute)
	if !a.LastUsedAt.Before(minute) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.at[a.ID].Before(minute) {
		return
	}
	l.at[a.ID] = minute
	l.schedule()
}

// schedule starts the timer unless it runs. The caller holds mu.
func (l *LastUses) schedule() {
	if l.timer != nil {
		return
	}
	l.flushing.Add(1)
	l.timer = time.AfterFunc(lastUsesFlushed, func() {
		defer l.flushing.Done()
		if err := l.flush(); err != nil {
			l.log.Warn("last uses of service accounts are not recorded yet", "error", err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.timer = nil; len(l.at) > 0 && !l.closed {
			l.schedule()
		}
	})
}

// flush writes the pending uses of the service accounts that still exist.
func (l *LastUses) flush() error {
	l.mu.Lock()
	pending := maps.Clone(l.at)
	l.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	if err := l.store.Update(context.Background(), func(tx store.Tx) error {
		// Always in the same order, so that concurrent transactions don't wait for each other.
		for _, id := range slices.Sorted(maps.Keys(pending)) {
			if err := tx.TouchServiceAccount(id, pending[id]); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.at, func(id string, at time.Time) bool { return pending[id].Equal(at) }) // not later ones
	return nil
}

// Reset drops the uses of service accounts that were deleted.
func (l *LastUses) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.at)
}

// Close writes the pending uses. Later uses are not noted.
func (l *LastUses) Close() error {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil && l.timer.Stop() {
		l.flushing.Done()
	}
	l.mu.Unlock()
	l.flushing.Wait()
	return l.flush()
}
