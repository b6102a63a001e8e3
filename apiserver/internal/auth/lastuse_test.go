package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// touchedStore records the last uses that are written; its updates fail with err.
type touchedStore struct {
	store.Store
	mu      sync.Mutex // held by the test except while it waits
	err     error
	during  func() // nil, or called in an update
	updates int
	touched map[string]time.Time
}

type touchedTx struct {
	store.Tx
	touched map[string]time.Time
}

func (t touchedTx) TouchServiceAccount(id string, at time.Time) error {
	t.touched[id] = at
	return store.ErrNotFound // a service account that was deleted does not stop the others
}

func (s *touchedStore) Update(_ context.Context, fn func(store.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates++
	if s.err != nil {
		return s.err
	}
	if s.during != nil {
		s.during()
	}
	return fn(touchedTx{touched: s.touched})
}

// TestLastUsesAreFlushed checks that uses are written a minute after the first one if no
// other change writes them, and again later if that fails.
func TestLastUsesAreFlushed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &touchedStore{touched: map[string]time.Time{}}
		s.mu.Lock()
		var log bytes.Buffer // read only after synctest.Wait
		l := NewLastUses(s, slog.New(slog.NewTextHandler(&log, nil)))
		a, b := store.ServiceAccount{ID: "a"}, store.ServiceAccount{ID: "b"}
		wait := func(d time.Duration) {
			s.mu.Unlock()
			time.Sleep(d)
			synctest.Wait()
			s.mu.Lock()
		}
		first := time.Now().Truncate(time.Minute)
		l.note(a, time.Now())
		wait(lastUsesFlushed / 2)
		l.note(b, time.Now())
		if wait(lastUsesFlushed/2 - 1); s.updates != 0 {
			t.Errorf("%d updates before the minute has passed", s.updates)
		}
		if wait(1); s.updates != 1 || !s.touched["a"].Equal(first) || !s.touched["b"].Equal(first) {
			t.Errorf("%d updates wrote %v", s.updates, s.touched)
		}
		if wait(time.Hour); s.updates != 1 || l.timer != nil {
			t.Errorf("%d updates without a use", s.updates)
		}
		assert.Check(t, log.Len() <= 0, "a flush that succeeds logs %s", &log)
		s.err = errors.New("disk full")
		l.note(a, time.Now())
		later := time.Now().Truncate(time.Minute)
		l.note(a, time.Now().Add(-time.Minute)) // does not replace the later one
		wait(2 * lastUsesFlushed)
		n := bytes.Count(log.Bytes(), []byte("level=WARN"))
		assert.Check(t, n == 2, "%d warnings for 2 flushes that failed: %s", n, &log)
		s.err = nil
		got := l.Of(a)
		assert.Check(t, got.Equal(later) && s.updates == 3, "after %d updates, of which 2 failed, the last use is %s", s.updates, got)
		if wait(lastUsesFlushed); !s.touched["a"].Equal(later) {
			t.Errorf("%v was written", s.touched)
		}
		s.during = func() { l.note(a, time.Now().Add(time.Minute)) }
		l.note(a, time.Now())
		if wait(lastUsesFlushed); len(l.at) != 1 {
			t.Errorf("%v is pending after a use during a flush", l.at)
		}
		s.during = nil
		if l.Reset(); len(l.at) != 0 {
			t.Errorf("%v is pending after a reset", l.at)
		}
		l.note(b, time.Now())
		s.mu.Unlock()
		err := l.Close()
		assert.Check(t, err == nil && s.touched["b"].After(first), "Close wrote %v, %v", s.touched, err)
		if l.note(a, time.Now()); len(l.at) != 0 {
			t.Error("a use is recorded after Close")
		}
	})
}
