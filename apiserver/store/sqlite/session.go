package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	driver "modernc.org/sqlite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// session is a connection with its prepared statements. It is for one goroutine at a
// time.
type session struct {
	db         *sql.DB
	conn       *sql.Conn
	file       *sharedFile // nil if the file can't be read
	statements map[string]*sql.Stmt
	// remembered is the authorization version that a reader last read; nil for a writer,
	// whose own changes have no data version before they are committed.
	remembered *remembered
}

// connect opens a connection of its own to the file at a path.
func connect(ctx context.Context, path, dsn string) (*session, error) {
	connector, err := driver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	// Each session has the shared descriptor, so that it is not closed while another
	// session of this process has locks on the file. An error is SQLite's to report.
	f, err := openShared(path)
	if err != nil {
		f = nil
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close(), f.release())
	}
	return &session{db: db, conn: conn, file: f, statements: make(map[string]*sql.Stmt)}, nil
}

// close closes the connection, which rolls back an open transaction. It closes the
// statements first: with one of them open, SQLite would keep the connection and its
// locks.
func (s *session) close() error {
	for _, stmt := range s.statements {
		_ = stmt.Close() // repeats the error of its last run
	}
	return errors.Join(s.conn.Close(), s.db.Close(), s.file.release())
}

// exec runs a statement and ignores its rows.
func (s *session) exec(query string) error {
	_, err := s.ExecContext(context.Background(), query)
	return err
}

// ExecContext implements sqlstore.Querier.
func (s *session) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext implements sqlstore.Querier.
func (s *session) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// prepare caches every statement. Package sqlstore has a few hundred at most.
func (s *session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, known := s.statements[query]; known {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.statements[query] = stmt
	return stmt, nil
}

// transaction is the sqlstore.Querier of one View or Update.
type transaction struct {
	session *session
	// failed is the first error of a statement. No statement runs after it: SQLite
	// rolls back the whole transaction after some errors, and would commit each later
	// statement by itself.
	failed error
	// wrote means that a statement ran which may have changed something.
	wrote bool
}

var _ sqlstore.Querier = (*transaction)(nil)

// ExecContext implements sqlstore.Querier.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	result, err := t.session.ExecContext(context.Background(), query, args...)
	t.failed, t.wrote = err, true
	return result, err
}

// QueryContext implements sqlstore.Querier.
func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	rows, err := t.session.QueryContext(context.Background(), query, args...)
	t.failed, t.wrote = err, t.wrote || strings.Contains(query, "RETURNING")
	return rows, err
}

// ready checks the context before each statement. Statements are not interrupted:
// they are short, and the connection could not be used any more.
func (t *transaction) ready(ctx context.Context) error {
	if t.failed != nil {
		return t.failed
	}
	return ctx.Err()
}
