package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// lastUsesFlushed is how long a use may wait for a change to be written with.
const lastUsesFlushed = time.Minute

// uses are times of last use by the service account's id.
type uses map[string]time.Time

// lastUses keeps in memory when service accounts were last used, to the minute,
// until the next change, a timer or close writes it: authentication must not wait
// for the write lock. A crash loses at most the last minute. It is safe for
// concurrent use.
type lastUses struct {
	store store.Store
	log   *slog.Logger

	mu     sync.Mutex
	at     uses
	timer  *time.Timer // nil while nothing waits
	closed bool
	// flushing are the timer's writes, for close.
	flushing sync.WaitGroup
}

func newLastUses(s store.Store, log *slog.Logger) *lastUses {
	return &lastUses{store: s, log: log, at: uses{}}
}

// of returns when a service account was last used, written or not.
func (l *lastUses) of(a store.ServiceAccount) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.at[a.ID]; at.After(a.LastUsedAt) {
		return at
	}
	return a.LastUsedAt
}

// note records a use of a service account.
func (l *lastUses) note(a store.ServiceAccount, now time.Time) {
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
func (l *lastUses) schedule() {
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

// pending returns what is not written yet.
func (l *lastUses) pending() uses {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.at)
}

// write writes the uses of the service accounts that still exist.
func (u uses) write(tx store.Tx) error {
	for id, at := range u {
		if err := tx.TouchServiceAccount(id, at); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// written forgets uses that are durable, unless there were later ones since.
func (l *lastUses) written(u uses) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, at := range u {
		if l.at[id].Equal(at) {
			delete(l.at, id)
		}
	}
}

// flush writes what no change has been written with.
func (l *lastUses) flush() error {
	waiting := l.pending()
	if len(waiting) == 0 {
		return nil
	}
	if err := l.store.Update(context.Background(), waiting.write); err != nil {
		return err
	}
	l.written(waiting)
	return nil
}

// reset drops the uses of service accounts that were deleted.
func (l *lastUses) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.at)
}

// close writes what is pending. Later uses are not noted.
func (l *lastUses) close() error {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil && l.timer.Stop() {
		l.flushing.Done()
	}
	l.mu.Unlock()
	l.flushing.Wait()
	return l.flush()
}
