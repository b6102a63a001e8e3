package auth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// LastUses writes the time of each service account's last use, to the minute. It writes in the
// background, because authentication must not wait for the write lock. It is safe for concurrent
// use.
type LastUses struct {
	store store.Store
	log   *slog.Logger

	mu      sync.Mutex
	at      map[string]time.Time // service account id → last use, written or about to be written
	closed  bool
	writing sync.WaitGroup
}

// newLastUses returns LastUses that writes to s.
func newLastUses(s store.Store, log *slog.Logger) *LastUses {
	return &LastUses{store: s, log: log, at: map[string]time.Time{}}
}

// Of returns when a service account was last used, even if not yet written, and not before it was created.
func (l *LastUses) Of(a store.ServiceAccount) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := a.LastUsedAt
	if noted := l.at[a.ID]; noted.After(at) {
		at = noted
	}
	if at.Before(a.CreatedAt) && !at.IsZero() { // in its first minute
		return a.CreatedAt
	}
	return at
}

func (l *LastUses) note(a store.ServiceAccount, now time.Time) {
	minute, latest := now.Truncate(time.Minute), now.Add(store.ClockTolerance)
	l.mu.Lock()
	defer l.mu.Unlock()
	at, known := l.at[a.ID]
	if !known {
		at = a.LastUsedAt
	}
	if isNoted := !at.Before(minute) && !at.After(latest); l.closed || isNoted {
		return
	}
	l.at[a.ID] = minute
	l.writing.Go(func() {
		err := l.store.Update(context.Background(), func(tx store.Tx) error { return tx.TouchServiceAccount(a.ID, minute, latest) })
		if err != nil {
			l.log.Warn("the last use of a service account is not recorded", "service_account", a.ID, "error", err)
		}
	})
}

// Reset forgets all uses, after service accounts were deleted.
func (l *LastUses) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.at)
}

// Close waits until all uses are written. Later uses are ignored.
func (l *LastUses) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.writing.Wait()
}
