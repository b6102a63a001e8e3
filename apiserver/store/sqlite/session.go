package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// session is a connection with its prepared statements, for one goroutine.
type session struct {
	db         *sql.DB // only for conn
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// connect opens a connection to the file at a path.
func connect(ctx context.Context, path string, with settings) (*session, error) {
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=rw"}
	if with.immutable {
		file.RawQuery = "mode=ro&immutable=1"
	}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &session{db: db, conn: conn, statements: map[string]*sql.Stmt{}}
	for _, pragma := range append([]string{"busy_timeout = " + strconv.FormatInt(with.wait.Milliseconds(), 10)}, with.pragmas...) {
		if err := s.exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// close closes the statements and the connection, which rolls back an open transaction.
func (s *session) close() error {
	for _, stmt := range s.statements {
		_ = stmt.Close() // repeats the error of its last run
	}
	return errors.Join(s.conn.Close(), s.db.Close())
}

// exec runs a statement or a script. It ignores rows.
func (s *session) exec(query string) error {
	_, err := s.ExecContext(context.Background(), query)
	return err
}

// ExecContext implements sqlstore.Querier.
func (s *session) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	var result sql.Result
	stmt, err := s.statement(ctx, query)
	if err == nil {
		result, err = stmt.ExecContext(ctx, args...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// QueryContext implements sqlstore.Querier.
func (s *session) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	stmt, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err // and not a nil *sql.Rows
	}
	return rows, nil
}

// statement returns a prepared statement. It keeps all of them: they are a few hundred.
func (s *session) statement(ctx context.Context, query string) (stmt *sql.Stmt, err error) {
	if stmt = s.statements[query]; stmt == nil {
		if stmt, err = s.conn.PrepareContext(ctx, unnamed(query)); err == nil {
			s.statements[query] = stmt
		}
	}
	return stmt, err
}

var parameter = regexp.MustCompile(`\$[0-9]+`)

// unnamed returns a statement with ? in place of $1, $2 and so on if each of these occurs once, in
// order. SQLite compares each name with all others, which takes most of the time of a long INSERT.
func unnamed(query string) string {
	n, inOrder := 0, true
	text := parameter.ReplaceAllStringFunc(query, func(name string) string {
		n++
		inOrder = inOrder && name == "$"+strconv.Itoa(n)
		return "?"
	})
	if !inOrder {
		return query
	}
	return text
}

// transaction is the sqlstore.Querier of one View or Update.
type transaction struct {
	session *session
	// failed is the first error of a statement. No statement runs after it: after some errors SQLite
	// rolls back the whole transaction, and would commit each later statement by itself.
	failed error
	// wrote means that a statement ran that may have changed rows.
	wrote bool
}

var _ sqlstore.Querier = (*transaction)(nil)

// ExecContext implements sqlstore.Querier.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.ready(ctx); err != nil {
		return 0, err
	}
	n, err := t.session.ExecContext(context.Background(), query, args...)
	t.failed, t.wrote = err, true
	return n, err
}

// QueryContext implements sqlstore.Querier.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	rows, err := t.session.QueryContext(context.Background(), query, args...)
	t.failed, t.wrote = err, t.wrote || strings.Contains(query, "RETURNING")
	return rows, err
}

// ready returns the error of an earlier statement or of the context. A running statement is not
// interrupted: it is short.
func (t *transaction) ready(ctx context.Context) error {
	if t.failed != nil {
		return t.failed
	}
	return ctx.Err()
}

// pollTimeout limits how long SQLite itself waits for the write lock. The writer retries, because
// SQLite polls less and less often, up to seconds apart.
const pollTimeout = 5 * time.Millisecond

// settings are the settings of a new connection.
type settings struct {
	// wait limits how long SQLite itself waits for a lock.
	wait    time.Duration
	pragmas []string
	// immutable reads a file without its log and without locks.
	immutable bool
}

// useWAL sets the journal mode, which the file keeps. It is not one of the settings, because connect
// would change another program's database with it.
const useWAL = `PRAGMA journal_mode = wal`

// toWrite returns the settings of connections that write. Larger caches save no measurable time:
// the operating system caches the file too.
func (o Options) toWrite() settings {
	synchronous := "synchronous = full"
	if o.unsynced {
		synchronous = "synchronous = off"
	}
	locking := "locking_mode = normal"
	if o.Exclusive {
		locking = "locking_mode = exclusive"
	}
	return settings{wait: pollTimeout, pragmas: []string{
		locking, // before the first read
		synchronous,
		"foreign_keys = on",
		"temp_store = memory",
		"cache_size = -4096",
		"wal_autocheckpoint = " + strconv.Itoa(o.checkpointFrames),
		// Truncates a log that grew during a long read.
		"journal_size_limit = 67108864",
	}}
}

// toRead returns the settings of connections that read. The file is in WAL mode already.
func (o Options) toRead() settings {
	return settings{wait: o.LockTimeout, pragmas: []string{"query_only = on", "temp_store = memory", "cache_size = -128"}}
}
