package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// slowList is a list whose sweeps take a second of a bubble's time and see what
// was there when they began.
type slowList struct {
	mu      sync.Mutex
	now     []api.Mailbox
	sweeps  atomic.Int32
	err     error
	ended   atomic.Int32  // sweeps whose context ended first
	first   time.Duration // that the first sweep takes longer
	lingers bool          // a sweep notices the end of its context late
}

func (l *slowList) sweep(ctx context.Context) iter.Seq2[api.Mailbox, error] {
	return func(yield func(api.Mailbox, error) bool) {
		takes := time.Second
		if l.sweeps.Add(1) == 1 {
			takes += l.first
		}
		l.mu.Lock()
		seen, err := l.now, l.err
		l.mu.Unlock()
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			l.ended.Add(1)
			err = ctx.Err()
			if l.lingers {
				time.Sleep(time.Minute)
			}
		}
		if err != nil {
			yield(api.Mailbox{}, err)
			return
		}
		for _, m := range seen {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func (l *slowList) set(mailboxes ...api.Mailbox) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = mailboxes
}

func box(n int, first string) api.Mailbox {
	return api.Mailbox{ID: fmt.Sprintf("id-%d", n), PrimaryEmail: fmt.Sprintf("m%d@example.com", n), FirstName: first}
}

func bubble(t *testing.T, test func(t *testing.T, l *slowList, ix *index[api.Mailbox])) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowList{}
		l.set(box(1, "old"), box(2, "old"))
		test(t, l, newIndex(mailboxKind, l.sweep))
	})
}

func expect(t *testing.T, ix *index[api.Mailbox], key, first string) {
	t.Helper()
	m, err := ix.get(t.Context(), key, 0)
	switch {
	case err != nil:
		t.Errorf("%s: %v", key, err)
	case first == "" && m != nil:
		t.Errorf("%s: %+v, want none", key, m)
	case first != "" && (m == nil || m.FirstName != first):
		t.Errorf("%s: %+v, want %s", key, m, first)
	}
}

func TestIndexSweepsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { expect(t, ix, "ID-1", "old") })
			wg.Go(func() { expect(t, ix, "M2@Example.COM.", "old") })
			wg.Go(func() { expect(t, ix, "id-9", "") })
		}
		wg.Wait()
		if n := l.sweeps.Load(); n != 1 {
			t.Errorf("%d sweeps", n)
		}
	})
}

func TestIndexSurvivesItsFirstCaller(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := ix.get(ctx, "id-1", 0); !errors.Is(err, context.Canceled) {
				t.Errorf("first caller: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() { expect(t, ix, "id-1", "old") })
		synctest.Wait()
		cancel()
		wg.Wait()
		if n := l.sweeps.Load(); n != 1 || l.ended.Load() != 0 {
			t.Errorf("%d sweeps, %d ended", n, l.ended.Load())
		}
	})
}

func TestIndexEndsASweepThatNobodyWaitsFor(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		l.lingers = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _ = ix.get(ctx, "id-1", 0)
		synctest.Wait()
		if l.ended.Load() != 1 {
			t.Error("the sweep goes on")
		}
		expect(t, ix, "id-1", "old")
		time.Sleep(2 * time.Minute) // until the first sweep is done
	})
}

func TestIndexKeepsNoErrors(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		l.err = errDropped
		if _, err := ix.get(t.Context(), "id-1", 0); !errors.Is(err, errDropped) {
			t.Errorf("%v", err)
		}
		l.err = nil
		expect(t, ix, "id-1", "old")
	})
}

func TestIndexTakesWrites(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		expect(t, ix, "id-1", "old")
		ix.upsert(box(1, "new"))
		ix.upsert(box(3, "new"))
		ix.remove("M2@example.com")
		renamed := box(3, "new")
		renamed.PrimaryEmail = "other@example.com"
		ix.upsert(renamed)
		expect(t, ix, "m1@example.com", "new")
		expect(t, ix, "id-2", "")
		expect(t, ix, "m2@example.com", "")
		expect(t, ix, "m3@example.com", "")
		expect(t, ix, "other@example.com", "new")
		if n := l.sweeps.Load(); n != 1 {
			t.Errorf("%d sweeps", n)
		}
	})
}

// Writes that end during a sweep are newer than what it has seen.
func TestIndexTakesWritesDuringASweep(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		var wg sync.WaitGroup
		wg.Go(func() { expect(t, ix, "id-1", "new") })
		synctest.Wait()
		ix.upsert(box(1, "new"))
		ix.remove("id-2")
		wg.Wait()
		expect(t, ix, "id-1", "new")
		expect(t, ix, "id-2", "")
		if n := l.sweeps.Load(); n != 1 {
			t.Errorf("%d sweeps", n)
		}
	})
}

// A write whose result is not known makes what was seen before it unusable: for
// its key, or, where that is not known either, for all.
func TestIndexForgets(t *testing.T) {
	for name, tc := range map[string]struct {
		forget func(*index[api.Mailbox])
		other  int32 // sweeps after a read of another key
	}{
		"touch":      {func(ix *index[api.Mailbox]) { ix.touch("ID-1") }, 1},
		"invalidate": {func(ix *index[api.Mailbox]) { ix.invalidate() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
				var wg sync.WaitGroup
				wg.Go(func() { _, _ = ix.get(t.Context(), "id-2", 0) })
				synctest.Wait()
				tc.forget(ix) // during the sweep
				l.set(box(1, "new"), box(2, "old"))
				wg.Wait()
				if kept := ix.stored != nil; kept != (name == "touch") {
					t.Errorf("kept a sweep that began before: %v", kept)
				}
				expect(t, ix, "id-2", "old")
				if n := l.sweeps.Load(); n != tc.other {
					t.Errorf("%d sweeps for another key, want %d", n, tc.other)
				}
				expect(t, ix, "id-1", "new")
				expect(t, ix, "id-1", "new")
				if n := l.sweeps.Load(); n != 2 {
					t.Errorf("%d sweeps", n)
				}
			})
		})
	}
}

// A read that must be fresh does not join a sweep that began before it.
func TestIndexReadsFresh(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, ix *index[api.Mailbox]) {
		l.first = time.Minute
		var wg sync.WaitGroup
		wg.Go(func() { expect(t, ix, "id-1", "old") })
		synctest.Wait()
		l.set(box(1, "new"))
		after := ix.now()
		for range 5 {
			wg.Go(func() {
				if m, err := ix.get(t.Context(), "id-1", after); err != nil || m.FirstName != "new" {
					t.Errorf("%+v, %v", m, err)
				}
			})
		}
		wg.Wait()
		expect(t, ix, "id-1", "new") // the older sweep has not replaced the newer
		if n := l.sweeps.Load(); n != 2 {
			t.Errorf("%d sweeps", n)
		}
	})
}

func TestIndexUnderLoad(t *testing.T) {
	bubble(t, func(t *testing.T, _ *slowList, ix *index[api.Mailbox]) {
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				switch i % 5 {
				case 0:
					ix.upsert(box(i, "x"))
				case 1:
					ix.remove(fmt.Sprintf("id-%d", i))
				case 2:
					ix.touch("id-1")
				case 3:
					ix.invalidate()
				}
				_, _ = ix.get(t.Context(), "id-1", ix.now())
			})
		}
		wg.Wait()
	})
}
