package listcache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// slowList is a list with reads that take a second of the bubble's time and return the objects at their start.
type slowList struct {
	mu      sync.Mutex
	current []api.Mailbox
	reads   atomic.Int32
	err     error
}

func (l *slowList) read(ctx context.Context) iter.Seq2[api.Mailbox, error] {
	return func(yield func(api.Mailbox, error) bool) {
		l.reads.Add(1)
		l.mu.Lock()
		seen, err := l.current, l.err
		l.mu.Unlock()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = ctx.Err()
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
	l.current = mailboxes
}

var errBroken = errors.New("connection reset by peer")

var keys = Keys[api.Mailbox]{
	ID:        func(m *api.Mailbox) string { return m.ID },
	Name:      func(m *api.Mailbox) string { return m.PrimaryEmail },
	Normalize: func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".") },
}

func box(n int, first string) api.Mailbox {
	return api.Mailbox{ID: fmt.Sprintf("id-%d", n), PrimaryEmail: fmt.Sprintf("m%d@example.com", n), FirstName: first}
}

func bubble(t *testing.T, test func(t *testing.T, l *slowList, c *Cache[api.Mailbox])) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowList{}
		l.set(box(1, "old"), box(2, "old"))
		test(t, l, New(keys, l.read))
	})
}

func expect(t *testing.T, c *Cache[api.Mailbox], key, first string) {
	t.Helper()
	m, err := c.Get(t.Context(), key)
	switch {
	case err != nil:
		t.Errorf("%s: %v", key, err)
	case first == "" && m != nil:
		t.Errorf("%s: %+v, want none", key, m)
	case first != "" && (m == nil || m.FirstName != first):
		t.Errorf("%s: %+v, want %s", key, m, first)
	}
}

func TestCacheReadsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, c *Cache[api.Mailbox]) {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { expect(t, c, "ID-1", "old") })
			wg.Go(func() { expect(t, c, "M2@Example.COM.", "old") })
			wg.Go(func() { expect(t, c, "id-9", "") })
		}
		wg.Wait()
		n := l.reads.Load()
		assert.Check(t, n == 1, "%d reads", n)
	})
}

// TestCacheSurvivesItsFirstCaller checks that each caller can give up, even the first one, and that the
// others then get the result of its read.
func TestCacheSurvivesItsFirstCaller(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, c *Cache[api.Mailbox]) {
		var wg sync.WaitGroup
		for _, patience := range []time.Duration{time.Second / 2, time.Second / 4} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			wg.Go(func() {
				_, err := c.Get(ctx, "id-1")
				assert.Check(t, errors.Is(err, context.DeadlineExceeded), "a caller that gives up: %v", err)
			})
			synctest.Wait()
		}
		wg.Go(func() { expect(t, c, "id-1", "old") })
		wg.Wait()
		n := l.reads.Load()
		assert.Check(t, n == 1, "%d reads", n)
	})
}

// TestCacheKeepsNoErrors checks that the callers of a failed read share its error, and that the next
// caller reads again.
func TestCacheKeepsNoErrors(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, c *Cache[api.Mailbox]) {
		l.err = errBroken
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := c.Get(t.Context(), "id-1")
				assert.Check(t, errors.Is(err, errBroken), "%v", err)
			})
		}
		wg.Wait()
		n := l.reads.Load()
		assert.Check(t, n == 1, "%d reads", n)
		l.err = nil
		expect(t, c, "id-1", "old")
	})
}

// TestCacheForgets checks that a Get after an invalidation shares no read that began earlier, and that
// several callers share the next read.
func TestCacheForgets(t *testing.T) {
	bubble(t, func(t *testing.T, l *slowList, c *Cache[api.Mailbox]) {
		var wg sync.WaitGroup
		wg.Go(func() { expect(t, c, "id-1", "old") })
		synctest.Wait()
		l.set(box(1, "new"))
		c.Invalidate() // during the read
		for range 5 {
			wg.Go(func() { expect(t, c, "id-1", "new") })
		}
		wg.Wait()
		n := l.reads.Load()
		assert.Check(t, n == 2, "%d reads", n)
		l.set(box(1, "newer"))
		c.Invalidate()
		expect(t, c, "id-1", "newer")
	})
}

func TestCacheUnderLoad(t *testing.T) {
	bubble(t, func(t *testing.T, _ *slowList, c *Cache[api.Mailbox]) {
		c.Name = nil // as for a kind without natural keys
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if i%3 == 0 {
					c.Invalidate()
				}
				_, _ = c.Get(t.Context(), "id-1")
			})
		}
		wg.Wait()
	})
}
