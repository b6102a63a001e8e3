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

// lastUsesFlushed is how long a use may wait for a change to be written with.
const lastUsesFlushed = time.Minute

// Uses are times of last use of an account's service accounts, by their ids.
type Uses map[string]time.Time

// LastUses keeps in memory when service accounts were last used, to the minute,
// until the next change, a timer or Close writes it: authentication must not wait
// for the write lock. A crash loses at most the last minute. It is safe for
// concurrent use.
type LastUses struct {
	store store.Store
	log   *slog.Logger

	mu     sync.Mutex
	at     map[string]Uses // by account
	timer  *time.Timer     // nil while nothing is pending
	closed bool
	// flushing are the timer's writes, for Close.
	flushing sync.WaitGroup
}

// NewLastUses returns LastUses that writes to s.
func NewLastUses(s store.Store, log *slog.Logger) *LastUses {
	return &LastUses{store: s, log: log, at: map[string]Uses{}}
}

// Of returns when a service account was last used, written or not.
func (l *LastUses) Of(a store.ServiceAccount) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.at[a.AccountID][a.ID]; at.After(a.LastUsedAt) {
		return at
	}
	return a.LastUsedAt
}

// note records a use of a service account.
func (l *LastUses) note(a store.ServiceAccount, now time.Time) {
	minute := now.Truncate(time.Minute)
	if !a.LastUsedAt.Before(minute) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || !l.at[a.AccountID][a.ID].Before(minute) {
		return
	}
	if l.at[a.AccountID] == nil {
		l.at[a.AccountID] = Uses{}
	}
	l.at[a.AccountID][a.ID] = minute
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

// Pending returns the uses in an account that are not written yet. A change in the account
// writes no others, so that it waits for no other account.
func (l *LastUses) Pending(accountID string) Uses {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.at[accountID])
}

// Write writes the uses of the service accounts that still exist.
func (u Uses) Write(tx store.Tx) error {
	// Always in the same order, so that concurrent transactions don't wait for each other.
	for _, id := range slices.Sorted(maps.Keys(u)) {
		if err := tx.TouchServiceAccount(id, u[id]); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Written removes uses in an account that are durable, unless there were later ones since.
func (l *LastUses) Written(accountID string, u Uses) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pending := l.at[accountID]
	for id, at := range u {
		if pending[id].Equal(at) {
			delete(pending, id)
		}
	}
	if len(pending) == 0 {
		delete(l.at, accountID)
	}
}

// flush writes the uses that no change was written with.
func (l *LastUses) flush() error {
	l.mu.Lock()
	accounts, all := map[string]Uses{}, Uses{}
	for account, uses := range l.at {
		accounts[account] = maps.Clone(uses)
		maps.Copy(all, uses)
	}
	l.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	if err := l.store.Update(context.Background(), all.Write); err != nil {
		return err
	}
	for account, uses := range accounts {
		l.Written(account, uses)
	}
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
