package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// Store is a store with its engine.
type Store struct {
	*sqlstore.Store
	engine *engine
}

// openStore opens a store that is closed when the test ends.
func openStore(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	_, opts.unsynced = t.(*testing.T)
	s := &Store{}
	var err error
	s.Store, err = Open(t.Context(), path, opts)
	assert.NilError(t, err)
	s.Wrap(func(e sqlstore.Engine) sqlstore.Engine { s.engine = e.(*engine); return e })
	t.Cleanup(func() {
		assert.Check(t, s.Close())
	})
	return s
}

// idle waits until the writer has finished the work after its last commit, so that a test
// may use its connection. An empty update runs after that work and causes none of its
// own.
func idle(t *testing.T, s *Store) {
	t.Helper()
	assert.NilError(t, s.Update(t.Context(), func(store.Tx) error { return nil }))
}

// newPath returns the path of a file that does not exist.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "mailhost.db") }

// The account, workspace and domain of the test mailboxes.
const (
	accountID   = "account"
	workspaceID = "workspace"
	domainID    = "domain"
)

// populate creates an account with a workspace and a domain if they do not exist.
func populate(ctx context.Context, s store.Store) error {
	return s.Update(ctx, func(tx store.Tx) error {
		if _, err := tx.Account(accountID); err == nil {
			return nil
		}
		now := time.Now()
		if err := tx.Create(&store.Account{ID: accountID, PlanID: "0", CreatedAt: now}); err != nil {
			return err
		}
		w := store.Workspace{ID: workspaceID, AccountID: accountID, Name: "Default", CreatedAt: now}
		if err := tx.Create(&w); err != nil {
			return err
		}
		return tx.Create(&store.Domain{
			ID: domainID, AccountID: accountID, WorkspaceID: workspaceID, Name: "a.example", CreatedAt: now,
		})
	})
}

func mustPopulate(t testing.TB, s store.Store) {
	t.Helper()
	assert.NilError(t, populate(t.Context(), s))
}

func newMailbox(localPart string) store.Mailbox {
	return store.Mailbox{
		ID: uuid.NewString(), AccountID: accountID, DomainID: domainID, LocalPart: localPart,
		FirstName: "Ada", LastName: "Lovelace", State: store.Provisioning{Status: "active"}, CreatedAt: time.Now(),
	}
}

// create creates a mailbox in an update of its own and returns its id.
func create(ctx context.Context, s store.Store, localPart string) (string, error) {
	m := newMailbox(localPart)
	return m.ID, s.Update(ctx, func(tx store.Tx) error { return tx.Create(&m) })
}

// addresses returns the local parts of all mailboxes, in order.
func addresses(t testing.TB, s store.Store) []string {
	t.Helper()
	var found []string
	err := s.View(t.Context(), func(r store.Reader) error {
		return r.EachMailbox(accountID, store.MailboxFilter{}, func(m store.Mailbox) error {
			found = append(found, m.LocalPart)
			return nil
		})
	})
	assert.NilError(t, err)
	return found
}

// query returns the rows of a query as texts.
func query(t testing.TB, s *Store, statement string, args ...any) (all [][]string) {
	t.Helper()
	err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		found, err := q.QueryContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		columns, err := found.(*sql.Rows).Columns()
		for found.Next() {
			values := make([]any, len(columns))
			row, to := make([]string, len(values)), make([]any, len(values))
			for i := range values {
				to[i] = &values[i]
			}
			err = errors.Join(err, found.Scan(to...))
			for i := range values {
				row[i] = fmt.Sprint(values[i])
			}
			all = append(all, row)
		}
		return errors.Join(err, found.Err(), found.Close())
	})
	assert.Check(t, err, statement)
	return all
}

// column returns the first column of a query.
func column(t testing.TB, s *Store, statement string) (all []string) {
	t.Helper()
	for _, row := range query(t, s, statement) {
		all = append(all, row[0])
	}
	return all
}

// execute runs a statement in an update.
func execute(t testing.TB, s *Store, statement string) {
	t.Helper()
	err := s.engine.Update(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		_, err := q.ExecContext(ctx, statement)
		return err
	})
	assert.NilError(t, err, statement)
}

// check runs SQLite's integrity check on a file.
func check(t testing.TB, s *Store) {
	t.Helper()
	for _, finding := range append(column(t, s, `PRAGMA integrity_check`), column(t, s, `PRAGMA foreign_key_check`)...) {
		assert.Check(t, finding == "ok", finding)
	}
}
