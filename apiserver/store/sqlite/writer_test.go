package sqlite

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// bubble runs a test with a store that has a domain, in a synctest bubble: synctest.Wait
// returns when all updates are queued, so that a test controls which updates share a
// commit. The writer's waits use fake time but SQLite's use real time, so the times are
// short.
func bubble(t *testing.T, opts Options, run func(t *testing.T, s *Store)) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, path, opts)
		mustPopulate(t, s)
		run(t, s)
		check(t, s)
	})
}

// grouped runs updates that share a commit, and returns their errors.
func grouped(t *testing.T, s *Store, updates ...func(context.Context, sqlstore.Querier) error) []error {
	t.Helper()
	release := make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- s.engine.Update(context.Background(), func(context.Context, sqlstore.Querier) error {
			<-release
			return nil
		})
	}()
	synctest.Wait()
	results := make([]chan error, len(updates))
	for i, fn := range updates {
		results[i] = make(chan error, 1)
		go func() { results[i] <- s.engine.Update(context.Background(), fn) }()
		synctest.Wait() // so that they start in order
	}
	close(release)
	errs := []error{<-held}
	for _, r := range results {
		errs = append(errs, <-r)
	}
	return errs
}

// creating returns an update that creates a mailbox, and then calls more if it is not
// nil.
func creating(
	localPart string, more func(context.Context, sqlstore.Querier) error,
) func(context.Context, sqlstore.Querier) error {
	return func(ctx context.Context, q sqlstore.Querier) error {
		s := sqlstore.New(within{q: q}, &dialect)
		if _, err := create(ctx, s, localPart); err != nil || more == nil {
			return err
		}
		return more(ctx, q)
	}
}

// within is an engine that runs everything in an existing transaction.
type within struct {
	sqlstore.Engine
	q sqlstore.Querier
}

func (w within) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return fn(ctx, w.q)
}

func (w within) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return fn(ctx, w.q)
}

func TestGroupWithFailingMember(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *Store) {
		failure := errors.New("failure")
		errs := grouped(t, s,
			creating("one", nil),
			creating("two", func(context.Context, sqlstore.Querier) error { return failure }),
			creating("three", nil),
			creating("one", nil), // conflicts with the group's first update
		)
		assert.Check(t, errs[0] == nil && errs[1] == nil && errs[2] == failure && errs[3] == nil, "errors = %v", errs)
		_, ok := errors.AsType[*store.ExistsError](errs[4])
		assert.Check(t, ok, "second create of one address: %v", errs[4])
		assert.Check(t, is.DeepEqual(addresses(t, s), []string{"one", "three"}), "mailboxes")
	})
}

// TestGroupIsOneCommit checks that all updates of a group fail, and no other update, if the commit
// fails, or if SQLite ended the transaction after an error.
func TestGroupIsOneCommit(t *testing.T) {
	for name, statements := range map[string][]string{
		"the commit fails":      {`PRAGMA defer_foreign_keys = on`, `UPDATE mailboxes SET domain_id = 'nowhere' WHERE local_part = 'two'`},
		"the transaction ended": {`ROLLBACK`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Options{maxGroup: 3}, func(t *testing.T, s *Store) {
				breaking := func(ctx context.Context, q sqlstore.Querier) error {
					for _, statement := range statements {
						if _, err := q.ExecContext(ctx, statement); err != nil {
							return err
						}
					}
					return nil
				}
				errs := grouped(t, s, creating("one", nil), creating("two", breaking), creating("three", nil))
				for i, err := range errs[:3] {
					assert.Check(t, err != nil, "update %d of the group succeeded", i)
				}
				assert.Check(t, errs[3] == nil, "update of the next group: %v", errs[3])
				assert.Check(t, is.DeepEqual(addresses(t, s), []string{"three"}), "mailboxes")
			})
		})
	}
}

// TestFailedStatement checks that no statement runs after a failed one, even if the
// function ignores the error.
func TestFailedStatement(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	mustPopulate(t, s)
	err := s.engine.Update(t.Context(), creating("ada", func(ctx context.Context, q sqlstore.Querier) error {
		_, _ = q.ExecContext(ctx, `INSERT INTO mailboxes (id) VALUES ('x')`)
		_, err := create(ctx, sqlstore.New(within{q: q}, &dialect), "eve")
		assert.Check(t, err != nil, "a statement ran after one that failed")
		return nil
	}))
	assert.Check(t, err != nil, "Update succeeded")
	got := addresses(t, s)
	assert.Check(t, len(got) == 0, "mailboxes %q", got)
}

// lock takes the write lock as another process would, and returns a function that
// releases it.
func lock(t *testing.T, s *Store) (release func()) {
	t.Helper()
	other, err := connect(t.Context(), s.engine.path, Options{}.toWrite())
	assert.NilError(t, err)
	assert.NilError(t, other.exec(`BEGIN IMMEDIATE`))
	return func() {
		assert.Check(t, errors.Join(other.exec(`ROLLBACK`), other.close()))
	}
}

func TestLockTimeout(t *testing.T) {
	bubble(t, Options{LockTimeout: 50 * time.Millisecond, maxGroup: 3}, func(t *testing.T, s *Store) {
		release := lock(t, s)
		start := time.Now()
		results := make(chan error)
		for range 5 {
			go func() { _, err := create(context.Background(), s, "ada"); results <- err }()
		}
		for range 5 {
			err := <-results
			assert.Check(t, errors.Is(err, store.ErrLocked) && strings.Contains(err.Error(), "another process has been writing"), "Update = %v", err)
		}
		// The updates wait concurrently.
		waited := time.Since(start)
		assert.Check(t, waited >= 50*time.Millisecond && waited <= 200*time.Millisecond, "waited for %v", waited)
		err := s.Ping(t.Context())
		assert.Check(t, err == nil, "Ping = %v, want nil because another process's lock is no fault of the file", err)
		release()
		_, err = create(t.Context(), s, "ada")
		assert.Check(t, err)
	})
}

// TestContextEndsWhileWaiting checks that a queued update returns when its context ends,
// and never runs.
func TestContextEndsWhileWaiting(t *testing.T) {
	bubble(t, Options{LockTimeout: time.Hour}, func(t *testing.T, s *Store) {
		release := lock(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error)
		for range 3 { // one runs, two are queued
			go func() {
				results <- s.Update(ctx, func(store.Tx) error {
					t.Error("an update ran after its context had ended")
					return nil
				})
			}()
		}
		synctest.Wait()
		cancel()
		start := time.Now()
		for range 3 {
			err := <-results
			assert.Check(t, err == context.Canceled, "Update = %v", err)
		}
		waited := time.Since(start)
		assert.Check(t, waited <= time.Second, "waited for %v", waited)
		release()
		_, err := create(t.Context(), s, "ada")
		assert.Check(t, err)
	})
}

// TestAccountsTakeTurns checks that an account with many updates does not keep another account
// waiting, and that the updates of an account keep their order.
func TestAccountsTakeTurns(t *testing.T) {
	q := newQueue()
	names := map[*update]string{}
	push := func(account string, n int) {
		u := new(update)
		names[u] = account + strconv.Itoa(n)
		q.push(account, u)
	}
	for n := range 4 {
		push("a", n)
	}
	push("b", 0)
	push("b", 1)
	order := []string{names[q.take(true)]}
	push("c", 0)
	push("a", 4)
	q.close()
	for u := q.take(false); u != nil; u = q.take(false) {
		order = append(order, names[u])
	}
	if got, want := strings.Join(order, " "), "a0 b0 a1 c0 b1 a2 a3 a4"; got != want {
		t.Errorf("the order is %s; want %s", got, want)
	}
	assert.Check(t, len(q.waiting) == 0 && q.take(true) == nil, "an empty queue has %v", q.waiting)
}
