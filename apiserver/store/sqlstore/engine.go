package sqlstore

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Querier runs statements in one transaction. The caller closes rows before the next statement.
// An argument is nil, an int, an int64, a bool, a string or a []byte, a pointer to one, or a
// driver.Valuer.
type Querier interface {
	// ExecContext returns how many rows an INSERT, UPDATE or DELETE has changed.
	ExecContext(ctx context.Context, query string, args ...any) (int64, error)
	QueryContext(ctx context.Context, query string, args ...any) (Rows, error)
}

// Rows are like *sql.Rows. Scan takes pointers to the types of arguments and sql.Scanner.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Engine runs transactions with the guarantees of store.Store. fn passes its context on.
type Engine interface {
	View(ctx context.Context, fn func(context.Context, Querier) error) error
	Update(ctx context.Context, fn func(context.Context, Querier) error) error
	Ping(ctx context.Context) error
	Usage(ctx context.Context) (store.Usage, error)
	Close() error
}

// Locker is the Querier of an update in an engine whose updates run at the same time. Every
// statement after a failed lock returns its error.
type Locker interface {
	// LockAccount waits until no other update has the account. It returns true if this
	// update did not have it before, so that what it has read of the account is outdated.
	LockAccount(ctx context.Context, id string) bool
	// LockAccounts waits until no other update has the list of accounts.
	LockAccounts(ctx context.Context)
}

// Dialect is what differs in an engine's SQL. In a pattern, %s is a placeholder or a name.
type Dialect struct {
	// Migrations is the schema as files that are applied in order: schema/0001_….sql,
	// schema/0002_….sql and so on. A released one must not change: a database with another is not opened.
	Migrations fs.FS
	// SchemaVersion returns the number of applied migrations. own is that of this program.
	SchemaVersion    func(ctx context.Context, q Querier, own int) (int, error)
	SetSchemaVersion func(ctx context.Context, q Querier, version int) error
	// Objects is a query of the tables, views and triggers of the schema: the kind with the
	// name, and the statement that made it if the database keeps that. Those of the database
	// itself and of extensions are left out.
	Objects string
	// Elements is the pattern of a SELECT of the elements of a JSON array of strings: a list is
	// one parameter whatever its length, so that there are few different statements.
	Elements string
	// SkipLocked ends a SELECT that locks its rows and leaves out those that others have locked.
	// It and Freeze are "" for an engine that runs one update at a time.
	SkipLocked string
	// Columns is a query of the columns of all tables, those of one in order: the table, the name,
	// and whether it is a boolean, NOT NULL, and in the primary key.
	Columns string
	// Freeze is the pattern of a statement that makes other updates of tables wait for this one.
	Freeze string
	// ContinueIDs is a query after which the database assigns ids of audit entries after those
	// that are there, or "".
	ContinueIDs string
}

// elements returns a SELECT of a placeholder's elements.
func (d *Dialect) elements(placeholder string) string { return fmt.Sprintf(d.Elements, placeholder) }
