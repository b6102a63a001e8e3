package sqlite

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"
	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

func init() { lib.PatchIssue199() } // the page size on linux/arm64, which zombiezen leaves out

// session is a connection, which keeps its prepared statements, for one goroutine.
type session struct {
	conn *zombiezen.Conn
	rows rows // of the query that runs
}

// connect opens a connection to the file at a path.
func connect(ctx context.Context, path string, with settings) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := zombiezen.OpenConn(path, zombiezen.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(with.wait)
	s := &session{conn: conn}
	for _, pragma := range with.pragmas {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// close closes the connection, which rolls back an open transaction.
func (s *session) close() error { return s.conn.Close() }

// exec runs a statement and ignores its rows.
func (s *session) exec(query string) error {
	_, err := s.ExecContext(context.Background(), query)
	return err
}

// ExecContext implements sqlstore.Querier.
func (s *session) ExecContext(_ context.Context, query string, args ...any) (int64, error) {
	if strings.Contains(query, ";") {
		return 0, sqlitex.ExecScript(s.conn, query)
	}
	stmt, err := s.statement(query)
	if err != nil {
		return 0, err
	}
	defer reset(stmt)
	if err := bind(stmt, args); err != nil {
		return 0, err
	}
	for {
		if row, err := stmt.Step(); err != nil {
			return 0, err
		} else if !row {
			return int64(s.conn.Changes()), nil
		}
	}
}

// ExecLater implements sqlstore.Querier: it runs the statement at once.
func (s *session) ExecLater(ctx context.Context, query string, args ...any) error {
	_, err := s.ExecContext(ctx, query, args...)
	return err
}

// QueryContext implements sqlstore.Querier.
func (s *session) QueryContext(_ context.Context, query string, args ...any) (sqlstore.Rows, error) {
	stmt, err := s.statement(query)
	if err != nil {
		return nil, err
	}
	if err := bind(stmt, args); err != nil {
		reset(stmt)
		return nil, err
	}
	s.rows = rows{stmt: stmt}
	// The first row now, so that a statement which fails is one that did not run.
	if s.rows.ahead = s.rows.step(); s.rows.failed != nil {
		return nil, errors.Join(s.rows.failed, s.rows.Close())
	}
	return &s.rows, nil
}

// statement returns a statement, which the connection keeps. The error does not repeat its text.
func (s *session) statement(query string) (*zombiezen.Stmt, error) {
	stmt, err := s.conn.Prepare(query)
	return stmt, cmp.Or(errors.Unwrap(err), err)
}

// transaction is the sqlstore.Querier of one View or Update.
type transaction struct {
	session *session
	// failed is the first error of a statement. No statement runs after it: SQLite rolls back
	// the whole transaction after some errors, and would commit each later one by itself.
	failed error
	// wrote means that a statement ran which may have changed something.
	wrote bool
}

var _ sqlstore.Querier = (*transaction)(nil)

// ExecContext implements sqlstore.Querier.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	n, err := t.session.ExecContext(ctx, query, args...)
	t.failed, t.wrote = err, true
	return n, err
}

// ExecLater implements sqlstore.Querier: it runs the statement at once.
func (t *transaction) ExecLater(ctx context.Context, query string, args ...any) error {
	_, err := t.ExecContext(ctx, query, args...)
	return err
}

// QueryContext implements sqlstore.Querier.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	rows, err := t.session.QueryContext(ctx, query, args...)
	t.failed, t.wrote = err, t.wrote || strings.Contains(query, "RETURNING")
	return rows, err
}

// ready checks the context before each statement. A statement is not interrupted: it is short.
func (t *transaction) ready(ctx context.Context) error {
	if t.failed != nil {
		return t.failed
	}
	return ctx.Err()
}

// pollTimeout is how long SQLite itself waits for the write lock. The writer retries, because
// SQLite polls less and less often and would wait for seconds.
const pollTimeout = 5 * time.Millisecond

// settings are what a connection is opened with.
type settings struct {
	// wait is how long SQLite itself waits for a lock.
	wait    time.Duration
	pragmas []string
}

// useWAL sets the journal mode, which the file keeps. It would change another program's
// database, and so is no setting.
const useWAL = `PRAGMA journal_mode = wal`

// toWrite returns the settings of connections that write. Larger caches save no measurable time:
// the operating system caches the file too.
func (o Options) toWrite() settings {
	synchronous := "synchronous = full"
	if o.unsynced {
		synchronous = "synchronous = off"
	}
	locking := "locking_mode = normal"
	if o.exclusive {
		locking = "locking_mode = exclusive"
	}
	return settings{pollTimeout, []string{
		locking, // before the first read
		synchronous,
		"foreign_keys = on",
		"temp_store = memory",
		"cache_size = -4096",
		"wal_autocheckpoint = " + strconv.Itoa(o.checkpointFrames),
		// A long read makes the log grow; this truncates it.
		"journal_size_limit = 67108864",
	}}
}

// toRead returns the settings of connections that read. The file is in WAL mode already.
func (o Options) toRead() settings {
	return settings{o.LockTimeout, []string{"query_only = on", "cache_size = -128"}}
}
