// Package monitor has a lock whose holders can wait for a condition until a context ends,
// which sync.Cond does not offer.
package monitor

import (
	"context"
	"sync"
)

// Monitor is a lock. The zero value is unlocked. It must not be copied.
type Monitor struct {
	mu sync.Mutex
	// changed is closed by the next Do; nil if nobody waits for one.
	changed chan struct{}
}

// Do runs fn with the lock, and wakes the goroutines that wait.
func (m *Monitor) Do(fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fn()
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// Wait calls ready with the lock, now and after each Do, until it returns true. The error
// is the context's cause.
func (m *Monitor) Wait(ctx context.Context, ready func() bool) error {
	for {
		changed, ok := m.check(ready)
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *Monitor) check(ready func() bool) (changed <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ready() {
		return nil, true
	}
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return m.changed, false
}

// Until returns a context that also ends when stop is closed.
func Until(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-stop:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
