package sqlstore

import (
	"context"
	"database/sql"
	"io/fs"
)

// Querier runs statements in one transaction, as *sql.Tx does. The caller reads rows
// to their end before it runs the next statement.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Engine runs transactions in a database, with the guarantees of the methods of
// store.Store. fn runs its statements with the context that it is called with.
type Engine interface {
	View(ctx context.Context, fn func(context.Context, Querier) error) error
	Update(ctx context.Context, fn func(context.Context, Querier) error) error
	Close() error
}

// Dialect is what differs in an engine's SQL.
type Dialect interface {
	// Migrations returns the schema as files that are applied in the order of their
	// names: 0001_….sql, 0002_….sql and so on.
	Migrations() fs.FS
	// SchemaVersion returns the number of the last applied migration, 0 for a new
	// database.
	SchemaVersion(ctx context.Context, q Querier) (int, error)
	// SetSchemaVersion sets the schema version.
	SetSchemaVersion(ctx context.Context, q Querier, version int) error
	// Elements returns a SELECT of the elements of a JSON array of strings, which is
	// the value of a placeholder. A list is one parameter whatever its length, so that
	// there are few different statements to prepare.
	Elements(placeholder string) string
	// AuthorizationVersion returns what read returns, which runs one query. An engine
	// that notices in another way that nothing was committed since an earlier transaction
	// returns the version that it read then.
	AuthorizationVersion(q Querier, read func() (int64, error)) (int64, error)
}
