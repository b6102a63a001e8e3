package sqlstore

import (
	"context"
	"io/fs"
)

// Querier runs statements in one transaction. The caller reads rows to their end, or
// closes them, before it runs the next statement. An argument is nil, an int, an int64, a
// bool, a string or a []byte, a pointer to one, or a driver.Valuer.
type Querier interface {
	// ExecContext returns how many rows an INSERT, UPDATE or DELETE has changed.
	ExecContext(ctx context.Context, query string, args ...any) (int64, error)
	// ExecLater is ExecContext for a statement whose result nobody needs. An engine may run it
	// with the next one, or with the commit, which then has its error.
	ExecLater(ctx context.Context, query string, args ...any) error
	QueryContext(ctx context.Context, query string, args ...any) (Rows, error)
}

// Rows are the rows of a query, as *sql.Rows are. Scan takes pointers to the types of
// arguments and sql.Scanner.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Engine runs transactions in a database, with the guarantees of the methods of
// store.Store. fn runs its statements with the context that it is called with.
type Engine interface {
	View(ctx context.Context, fn func(context.Context, Querier) error) error
	Update(ctx context.Context, fn func(context.Context, Querier) error) error
	Close() error
}

// Locker is the Querier of an update in an engine whose updates run at the same time. An
// error of a lock is also that of every later statement, so that it can be ignored.
type Locker interface {
	// LockAccount waits until no other update has the account, and reports whether this
	// one has it only from now on. What was read of the account before is outdated then.
	LockAccount(ctx context.Context, id string) bool
	// Lock waits until no other update has locked what a name stands for.
	Lock(ctx context.Context, name string)
}

// Dialect is what differs in an engine's SQL.
type Dialect interface {
	// Migrations returns the schema as files that are applied in the order of their
	// names: 0001_….sql, 0002_….sql and so on. A released one must not change: a database
	// with another is not opened.
	Migrations() fs.FS
	// SchemaVersion returns the number of the last applied migration, 0 for a new
	// database.
	SchemaVersion(ctx context.Context, q Querier) (int, error)
	// SetSchemaVersion sets the schema version.
	SetSchemaVersion(ctx context.Context, q Querier, version int) error
	// Objects returns a query of the tables, views and triggers of the schema: the kind with the
	// name, and the statement that made it if the database has that as it was written. It leaves
	// out what the database itself or an extension has made.
	Objects() string
	// Elements returns a SELECT of the elements of a JSON array of strings, which is
	// the value of a placeholder. A list is one parameter whatever its length, so that
	// there are few different statements to prepare.
	Elements(placeholder string) string
	// Hidden returns an expression with the value of a placeholder that does not influence
	// the query plan.
	Hidden(placeholder string) string
	// SkipLocked returns the end of a SELECT that locks its rows and leaves out those that
	// another transaction has locked; "" for an engine that runs one update at a time.
	SkipLocked() string
	// Columns returns a query of the columns of a table in their order: the name, whether it
	// is a boolean, whether it is NOT NULL, and its number in the primary key or 0.
	Columns(table string) string
	// Freeze returns a statement that makes other updates of tables wait until the
	// transaction ends; "" for an engine that runs one update at a time.
	Freeze(tables []string) string
	// ContinueIDs returns a query after which the ids that the database assigns in a table
	// continue those that are there; "" if they do anyway.
	ContinueIDs(table string) string
}
