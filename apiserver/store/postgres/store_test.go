package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// open opens a store in a new database, which is closed when the test ends.
func open(t *testing.T, opts postgres.Options) *sqlstore.Store {
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

// TestConformance runs the tests of every store.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, postgres.Options{}) })
}

func TestRestore(t *testing.T) {
	t.Parallel()
	storetest.Restore(t, open(t, postgres.Options{}))
}

// TestConcurrentFirstOpen checks that replicas can start together on an empty database.
func TestConcurrentFirstOpen(t *testing.T) {
	url := postgrestest.EmptyURL(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 2})
			if err != nil {
				t.Error(err)
				return
			}
			assert.Check(t, errors.Join(s.Ping(t.Context()), s.Close()))
		})
	}
	wg.Wait()
}

// TestUpgrade checks that the replicas of a version work with the schema of the next one if
// its migration only adds, and refuse it otherwise.
func TestUpgrade(t *testing.T) {
	url := postgrestest.EmptyURL(t)
	old := openAt(t, url, postgres.Options{})
	storetest.Fill(t, old)
	next := postgres.Options{}.WithMigration(`ALTER TABLE mailboxes ADD COLUMN color TEXT COLLATE "C" NOT NULL DEFAULT ''; CREATE TABLE colors (color TEXT)`)
	next.ReadOnly = true
	_, err := postgres.Open(t.Context(), url, next)
	assert.Check(t, is.ErrorIs(err, sqlstore.ErrOlderSchema), "Open for reading")
	next.ReadOnly = false
	readAll(t, openAt(t, url, next))
	readAll(t, old) // still runs
	assert.Check(t, old.Ping(t.Context()))
	readAll(t, openAt(t, url, postgres.Options{})) // restarts
	execute(t, url, `UPDATE mailhost_schema SET compatible_with = version`)
	_, err = postgres.Open(t.Context(), url, postgres.Options{})
	assert.Check(t, errors.Is(err, store.ErrNewerSchema), "Open of a later schema = %v", err)
	err = old.Ping(t.Context())
	_, isSchema := errors.AsType[*store.SchemaError](err)
	assert.Check(t, isSchema && errors.Is(err, store.ErrNewerSchema), "Ping = %v", err)
	execute(t, url, `UPDATE mailhost_schema SET compatible_with = 0; ALTER TABLE mailboxes DROP COLUMN quota_used`)
	_, isSchema = errors.AsType[*store.SchemaError](old.Ping(t.Context()))
	assert.Check(t, isSchema && strings.Contains(old.Ping(t.Context()).Error(), "mailboxes (quota_used)"), "Ping = %v", old.Ping(t.Context()))
}

// TestForeignObjects checks that a schema with added objects is refused.
func TestForeignObjects(t *testing.T) {
	for _, c := range []struct{ statements, want string }{
		{`CREATE TABLE own (id int)`, "the table own"},
		{`CREATE VIEW accounts2 AS SELECT * FROM accounts`, "the view accounts2"},
		{`CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER evil BEFORE INSERT ON mailboxes FOR EACH ROW EXECUTE FUNCTION evil()`, "the trigger evil"},
	} {
		url := postgrestest.EmptyURL(t)
		openAt(t, url, postgres.Options{})
		execute(t, url, c.statements)
		_, err := postgres.Open(t.Context(), url, postgres.Options{})
		assert.Check(t, err != nil && strings.Contains(err.Error(), c.want), "%s: Open = %v, want %q", c.statements, err, c.want)
	}
}

func TestReadOnly(t *testing.T) {
	empty := postgrestest.EmptyURL(t)
	_, err := postgres.Open(t.Context(), empty, postgres.Options{ReadOnly: true})
	assert.Check(t, is.ErrorIs(err, sqlstore.ErrNoStore), "Open of an empty database")
	execute(t, empty, `CREATE TABLE own (id int)`)
	_, err = postgres.Open(t.Context(), empty, postgres.Options{ReadOnly: true})
	assert.Check(t, is.ErrorContains(err, "the table own"), "Open of a schema of somebody else")
	url := postgrestest.URL(t)
	storetest.Fill(t, openAt(t, url, postgres.Options{}))
	s := openAt(t, url, postgres.Options{ReadOnly: true})
	readAll(t, s)
	assert.Check(t, is.ErrorIs(s.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrReadOnly), "Update")
}

// TestOpenErrors checks that an error states the fault and contains no password.
func TestOpenErrors(t *testing.T) {
	other := postgrestest.EmptyURL(t)
	execute(t, other, `CREATE TABLE accounts (name TEXT)`)
	forbidden := postgrestest.EmptyURL(t)
	execute(t, forbidden, `CREATE SCHEMA closed; ALTER SCHEMA closed OWNER TO mailhost; REVOKE CREATE ON SCHEMA closed FROM mailhost`)
	for url, want := range map[string]string{
		other:                             "tables of another program",
		forbidden + "&search_path=closed": "grant the user CREATE",
		strings.Replace(other, "/test", "/none", 1): "create it first",
		"postgres://u:secret@127.0.0.1:1/mail":      "connection refused",
		"postgres://u:secret@127.0.0.1:x/mail":      "correct the port",
		other + "&default_query_exec_mode=exec":     "use cache_describe",
	} {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		switch {
		case err == nil:
			t.Errorf("Open(%s) succeeded", url)
			_ = s.Close()
		case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n"):
			t.Errorf("Open(%s) = %v, want %q", url, err, want)
		}
	}
}

// TestClockOffset checks that the clocks of this machine and of the server, which runs on it, agree.
func TestClockOffset(t *testing.T) {
	t.Parallel()
	offset, err := openAt(t, postgrestest.URL(t), postgres.Options{}).ClockOffset(t.Context())
	assert.Check(t, err == nil && offset.Abs() < 5*time.Second, "the offset is %s: %v", offset, err)
}

// openAt opens a store, which is closed when the test ends.
func openAt(t *testing.T, url string, opts postgres.Options) *sqlstore.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url, opts)
	assert.NilError(t, err)
	t.Cleanup(func() {
		assert.Check(t, s.Close())
	})
	return s
}
