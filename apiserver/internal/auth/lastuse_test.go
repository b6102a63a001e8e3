package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// touchedStore records the written last uses; its updates fail with err.
type touchedStore struct {
	store.Store
	err     error
	updates int
	touched map[string]time.Time
}

type touchedTx struct {
	store.Tx
	to *touchedStore
}

func (t touchedTx) TouchServiceAccount(id string, at, _ time.Time) error {
	t.to.touched[id] = at
	return t.to.err
}

func (s *touchedStore) Update(_ context.Context, fn func(store.Tx) error) error {
	s.updates++
	return fn(touchedTx{to: s})
}

// TestLastUses checks that a use is written once a minute, and that a failed write is logged.
func TestLastUses(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // read only when nothing is written
	s := &touchedStore{touched: map[string]time.Time{}}
	l := newLastUses(s, slog.New(slog.NewTextHandler(&log, nil)))
	first := time.Date(2026, 3, 14, 15, 9, 0, 0, time.UTC)
	a := store.ServiceAccount{ID: "a", LastUsedAt: first.Add(-time.Hour)}
	for _, at := range []time.Time{first, first.Add(59 * time.Second), first.Add(time.Second), first.Add(-time.Second)} {
		l.note(a, at)
		l.writing.Wait()
	}
	assert.Check(t, s.updates == 1 && s.touched["a"].Equal(first) && l.Of(a).Equal(first), "%d updates wrote %v", s.updates, s.touched)
	l.note(store.ServiceAccount{ID: "b", LastUsedAt: first}, first.Add(time.Second))
	l.note(a, first.Add(time.Minute))
	l.writing.Wait()
	assert.Check(t, s.updates == 2 && s.touched["a"].Equal(first.Add(time.Minute)), "%d updates wrote %v", s.updates, s.touched)

	assert.Check(t, log.Len() == 0, "%s", &log)
	s.err = errors.New("disk full")
	l.note(a, first.Add(2*time.Minute))
	l.Close()
	assert.Check(t, bytes.Count(log.Bytes(), []byte("level=WARN")) == 1, "%s", &log)
	l.Reset()
	assert.Check(t, l.Of(a).Equal(a.LastUsedAt), "a use is known after a reset")
	l.note(a, first.Add(4*time.Minute))
	l.writing.Wait()
	assert.Check(t, s.updates == 3, "a use is recorded after Close")
}

// TestLastUsesOfAWrongClock checks that a use replaces one of a clock that was ahead, and that no use is before the
// creation of the service account in the same minute.
func TestLastUsesOfAWrongClock(t *testing.T) {
	t.Parallel()
	s := &touchedStore{touched: map[string]time.Time{}}
	l := newLastUses(s, slog.New(slog.DiscardHandler))
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	minute := now.Truncate(time.Minute)
	a := store.ServiceAccount{ID: "a", CreatedAt: now}
	l.note(a, now.AddDate(1, 0, 0)) // this process's own clock was ahead
	l.writing.Wait()
	a.LastUsedAt = s.touched["a"]
	l.note(a, now)
	l.writing.Wait()
	assert.Check(t, s.updates == 2 && s.touched["a"].Equal(minute), "%d updates wrote %v", s.updates, s.touched)
	a.LastUsedAt = minute
	assert.Check(t, l.Of(a).Equal(now), "last use = %s", l.Of(a))
	a.LastUsedAt = minute.Add(time.Minute) // of a server whose clock is half a minute ahead
	l.note(a, now.Add(30*time.Second))
	l.writing.Wait()
	assert.Check(t, s.updates == 2, "a use of the next minute is replaced by an earlier one")
}
