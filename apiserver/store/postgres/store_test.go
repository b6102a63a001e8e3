package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// open opens a store in a new database, which is closed when the test ends.
func open(t *testing.T, opts postgres.Options) *postgres.Store {
	t.Helper()
	s := postgrestest.Open(t, opts)
	t.Cleanup(func() {
		assert.Check(t, s.Close())
	})
	return s
}

var epoch = time.Date(2031, time.May, 4, 12, 30, 15, 0, time.UTC)

// readAll checks that the content of storetest.Fill can be read.
func readAll(t *testing.T, s store.Store) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		assert.Assert(t, err == nil && len(accounts) == 1, "accounts %v, error %v", accounts, err)
		_, total, err := r.Mailboxes(accounts[0].ID, store.MailboxFilter{}, store.Slice{Limit: 10})
		assert.Check(t, total == 1, "%d mailboxes", total)
		return err
	})
	assert.Check(t, err)
}

// TestConformance runs the tests of every store. With -short it runs those of what PostgreSQL
// does in its own way: locks, order, concurrency and the end of transactions.
func TestConformance(t *testing.T) {
	var run statements
	var names []string
	if testing.Short() {
		names = []string{
			"MailQueueConcurrentClaims", "TokenBucketsConcurrently", "Atomicity", "Snapshot",
			"Panic", "Context", "Concurrency", "Close",
		}
	}
	t.Run("store", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, postgres.Options{}.WithTracer(run.add)) }, names...)
	})
	if !testing.Short() && !t.Failed() {
		t.Run("plans", func(t *testing.T) { testPlans(t, &run) })
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	storetest.Restore(t, open(t, postgres.Options{}))
}

// TestExclusive checks that a database is not opened alone while another client uses it, even
// if that is idle.
func TestExclusive(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	other, err := postgres.Open(t.Context(), url, postgres.Options{})
	assert.NilError(t, err)
	_, err = postgres.Open(t.Context(), url, postgres.Options{Exclusive: true})
	assert.Check(t, errors.Is(err, store.ErrInUse) && strings.Contains(err.Error(), "connections of mailhostd"), "a database in use: %v", err)
	assert.NilError(t, other.Close())
	alone, err := postgres.Open(t.Context(), url, postgres.Options{Exclusive: true})
	assert.NilError(t, err)
	assert.Check(t, alone.Close())
}
