package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// execute runs statements in a database.
func execute(t *testing.T, url string, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol)
	assert.NilError(t, err)
}

// writers create workspaces until stop is closed, and record the acknowledged ones.
type writers struct {
	wg           sync.WaitGroup
	stop         chan struct{}
	acknowledged sync.Map
	count        atomic.Int64
}

func (w *writers) start(t *testing.T, s store.Store, account, prefix string) {
	w.wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-w.stop:
				return
			default:
			}
			name := fmt.Sprint(prefix, n)
			err := s.Update(context.Background(), func(tx store.Tx) error {
				return tx.Create(&store.Workspace{ID: name, AccountID: account, Name: name, CreatedAt: epoch})
			})
			switch {
			case err == nil:
				w.acknowledged.Store(name, true)
				w.count.Add(1)
			case !errors.Is(err, store.ErrUnavailable):
				t.Errorf("Update = %v", err)
			}
		}
	})
}

// TestRestart checks that no acknowledged update is lost while the server is stopped and started,
// that every error is ErrUnavailable, and that the store recovers.
func TestRestart(t *testing.T) {
	cluster := postgrestest.Start(t)
	url := cluster.URL("postgres", "postgres")
	one, other := openAt(t, url, postgres.Options{}), openAt(t, url, postgres.Options{})
	const account = "a"
	err := one.Update(t.Context(), func(tx store.Tx) error {
		return tx.Create(&store.Account{ID: account, CreatedAt: epoch})
	})
	assert.NilError(t, err)
	w := writers{stop: make(chan struct{})}
	for i := range 4 {
		w.start(t, []store.Store{one, other}[i%2], account, fmt.Sprintf("w%d-", i))
	}
	more := func() {
		t.Helper()
		for n := w.count.Load(); w.count.Load() < n+20 && !t.Failed(); {
			_ = one.Ping(t.Context())
		}
	}
	for range 2 {
		more()
		assert.NilError(t, cluster.Stop())
		assert.Check(t, is.ErrorIs(one.Ping(t.Context()), store.ErrUnavailable), "Ping of a stopped server")
		assert.Check(t, is.ErrorIs(one.View(t.Context(), func(r store.Reader) error { _, err := r.Accounts(); return err }), store.ErrUnavailable), "View of a stopped server")
		assert.NilError(t, cluster.StartServer())
	}
	more()
	close(w.stop)
	w.wg.Wait()
	err = one.View(t.Context(), func(r store.Reader) error {
		items, total, err := r.Workspaces(account, store.Within{}, store.Slice{Limit: 1 << 20})
		assert.Check(t, total == len(items) && int64(total) >= w.count.Load(), "%d of %d workspaces, %d were acknowledged", len(items), total, w.count.Load())
		last := epoch.Add(-1)
		for _, item := range items {
			assert.Check(t, item.CreatedAt.After(last), "%s is not later than the one before", item.ID)
			last = item.CreatedAt
			w.acknowledged.Delete(item.ID)
		}
		return err
	})
	assert.Check(t, err)
	w.acknowledged.Range(func(name, _ any) bool { t.Errorf("%s was acknowledged and is lost", name); return true })
	err = one.Ping(t.Context())
	assert.Check(t, err, "Ping")
}

// TestDeadlock checks that two updates that lock two accounts in opposite order both
// succeed.
func TestDeadlock(t *testing.T) {
	url := postgrestest.URL(t)
	stores := []store.Store{openAt(t, url, postgres.Options{}), openAt(t, url, postgres.Options{})}
	ids := []string{"a", "b"}
	for _, id := range ids {
		err := stores[0].Update(t.Context(), func(tx store.Tx) error {
			return tx.Create(&store.Account{ID: id, CreatedAt: epoch})
		})
		assert.NilError(t, err)
	}
	var met sync.WaitGroup
	met.Add(2)
	var wg sync.WaitGroup
	for i, s := range stores {
		once := sync.OnceFunc(func() { met.Done(); met.Wait() })
		wg.Go(func() {
			if err := s.Update(t.Context(), func(tx store.Tx) error {
				create := func(account string) error {
					name := fmt.Sprint(i, account)
					return tx.Create(&store.Workspace{ID: name, AccountID: account, Name: name, CreatedAt: epoch})
				}
				if err := create(ids[i]); err != nil {
					return err
				}
				once() // each has locked one account
				return create(ids[1-i])
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		err := stores[0].View(t.Context(), func(r store.Reader) error {
			_, total, err := r.Workspaces(id, store.Within{}, store.Slice{})
			assert.Check(t, total == 2, "the account %s has %d workspaces, want 2", id, total)
			return err
		})
		assert.Check(t, err)
	}
}

// TestLockTimeout checks that updates of an account that somebody else locked fail with
// ErrUnavailable, and no other updates.
func TestLockTimeout(t *testing.T) {
	url := postgrestest.URL(t)
	s := openAt(t, url, postgres.Options{LockTimeout: 1})
	storetest.Fill(t, s)
	var id string
	if err := s.View(t.Context(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		id = accounts[0].ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), `BEGIN; SELECT 1 FROM accounts FOR UPDATE`, pgx.QueryExecModeSimpleProtocol)
	assert.NilError(t, err)
	for _, ctx := range []context.Context{t.Context(), store.InAccount(t.Context(), id)} {
		err = s.Update(ctx, func(tx store.Tx) error { _, err := tx.Account(id); return err })
		assert.Check(t, errors.Is(err, store.ErrLocked), "Update of a locked account = %v", err)
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Create(&store.Account{ID: "other", CreatedAt: epoch})
	})
	assert.Check(t, err, "Update of another account")
}

// TestConnectionLimit checks that the error at a limit of connections begins with the server's reason, although
// pgx has tried TLS before.
func TestConnectionLimit(t *testing.T) {
	cluster := postgrestest.Start(t)
	administrator := cluster.URL("postgres", "postgres")
	execute(t, administrator, `CREATE ROLE few LOGIN CONNECTION LIMIT 1`)
	execute(t, administrator, `CREATE DATABASE few OWNER few`)
	url := cluster.TCP(t, "few", "few")
	s := openAt(t, url, postgres.Options{})
	assert.NilError(t, s.Ping(t.Context()))
	const want = `^the database is unavailable: FATAL: too many connections for role "few" \(SQLSTATE 53300\): failed to connect to .*user=few database=few.*: 127.0.0.1:\d+ \(127.0.0.1\): tls error: server refused TLS connection 127.0.0.1:\d+ \(127.0.0.1\)$`
	err := s.View(t.Context(), func(store.Reader) error { return s.Ping(t.Context()) })
	assert.Check(t, err != nil && regexp.MustCompile(want).MatchString(err.Error()), "a second connection: %v", err)
	_, err = postgres.Open(t.Context(), url, postgres.Options{})
	assert.ErrorContains(t, err, `PostgreSQL: the database is unavailable: FATAL: too many connections for role "few"`)
}

// TestReadOnlyForAWhile makes the database read-only for new connections, as managed services do when
// the disk is full. It checks that the store recovers afterwards without a restart.
func TestReadOnlyForAWhile(t *testing.T) {
	url := postgrestest.URL(t)
	s := openAt(t, url, postgres.Options{Connections: 3})
	write := func(id string) error {
		return s.Update(t.Context(), func(tx store.Tx) error { return tx.Create(&store.Account{ID: id, CreatedAt: epoch}) })
	}
	execute(t, url, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$;
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	for range 3 {
		assert.Check(t, is.ErrorIs(errors.Join(write("lost"), s.Ping(t.Context())), store.ErrUnavailable), "read-only")
	}
	execute(t, url, `BEGIN READ WRITE; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$; COMMIT`)
	_ = s.Ping(t.Context())
	for _, id := range []string{"a", "b", "c", "d"} {
		assert.Check(t, errors.Join(s.Ping(t.Context()), write(id)), "writable again")
	}
}
