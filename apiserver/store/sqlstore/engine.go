package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Querier runs statements in one transaction. The caller closes rows before the next statement.
// An argument is nil, a driver.Valuer, or an int, an int64, a bool, a string or a []byte or a
// pointer to one of these.
type Querier interface {
	// ExecContext returns how many rows an INSERT, UPDATE or DELETE changed.
	ExecContext(ctx context.Context, query string, args ...any) (int64, error)
	QueryContext(ctx context.Context, query string, args ...any) (Rows, error)
}

// Rows are like *sql.Rows. Scan takes pointers to the argument types, and sql.Scanners.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Engine runs transactions with the guarantees of store.Store. fn passes its context to the Querier.
type Engine interface {
	View(ctx context.Context, fn func(context.Context, Querier) error) error
	Update(ctx context.Context, fn func(context.Context, Querier) error) error
	Ping(ctx context.Context) error
	Usage(ctx context.Context) (store.Usage, error)
	ClockOffset(ctx context.Context) (time.Duration, error)
	Close() error
}

// Locker is the Querier of an update in an engine that runs updates at the same time. After a
// failed lock every statement returns the lock's error.
type Locker interface {
	// LockAccount waits until this update holds the account's lock. It returns true if the
	// update did not hold the lock before: its earlier reads of the account are outdated.
	LockAccount(ctx context.Context, id string) bool
	// LockAccounts waits until this update holds the lock of the list of accounts.
	LockAccounts(ctx context.Context)
}

// Dialect contains the SQL of an engine. In a pattern, %s is a placeholder or a name.
type Dialect struct {
	// Migrations contains the schema as files that are applied in order: schema/0001_….sql,
	// schema/0002_….sql and so on. A released file must not change: a database with another text of
	// it is not opened.
	Migrations fs.FS
	// SchemaVersion returns the number of applied migrations, and the number of the oldest program that
	// works with them. Both are 0 for an empty database.
	SchemaVersion func(ctx context.Context, q Querier) (version, compatible int, err error)
	// Mark returns the statements that set the number of applied migrations. The migrations make its table, if any.
	Mark func(version int) string
	// Objects is a query of all objects that can change the program's reads and writes, without those of the
	// database itself and of extensions. A row is a rank (tables come first), the name, the statement that makes
	// the object, the one that removes it, "", and the one that renames it up to the new name. An object in a
	// state that it must not have, such as disabled, has another row with the state and the statement that ends it.
	Objects string
	// Own contains the texts that Describe returns for the schema of Migrations, schema/objects.txt, and for that of
	// each release, such as schema/objects_0004.txt. Without it, the objects are not checked.
	Own fs.FS
	// Prelude, unless "", is a query of statements that come before those that repair the schema.
	Prelude string
	// Elements is the pattern of a SELECT of the elements of a JSON array of strings: a list is
	// one parameter whatever its length, so that there are few different statements.
	Elements string
	// SkipLocked ends a SELECT that locks its rows and skips rows that others locked. SkipLocked
	// and Freeze are "" for an engine that runs one update at a time.
	SkipLocked string
	// Columns is a query of the columns of all tables, in order within a table: the table, the name,
	// and whether it is a boolean, NOT NULL, and in the primary key.
	Columns string
	// Freeze is the pattern of a statement that makes other updates of tables wait for this one.
	Freeze string
	// ContinueIDs, unless "", is a query after which the database assigns audit entries higher ids
	// than the existing ones.
	ContinueIDs string
}

// elements returns a SELECT of the elements of a placeholder's JSON array.
func (d *Dialect) elements(placeholder string) string { return fmt.Sprintf(d.Elements, placeholder) }
