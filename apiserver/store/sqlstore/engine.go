package sqlstore

import (
	"context"
	"database/sql"
	"io/fs"
)

// Querier runs statements in one transaction, as *sql.Tx does. Rows are read to
// their end before the next statement runs.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Engine runs transactions in a database. Its methods promise what those of
// store.Store do. The context that fn gets is the one for its statements.
type Engine interface {
	View(ctx context.Context, fn func(context.Context, Querier) error) error
	Update(ctx context.Context, fn func(context.Context, Querier) error) error
	Close() error
}

// Dialect is where the SQL of an engine differs.
type Dialect interface {
	// Migrations holds the schema, as files that are named and applied in the
	// order 0001_….sql, 0002_….sql and so on.
	Migrations() fs.FS
	// SchemaVersion returns the number of the last migration that was applied,
	// 0 for a new database.
	SchemaVersion(ctx context.Context, q Querier) (int, error)
	// SetSchemaVersion records it.
	SetSchemaVersion(ctx context.Context, q Querier, version int) error
	// Elements is a SELECT of the elements of a JSON array of strings that is
	// the value of a placeholder. A list of any length is one parameter, so that
	// there are few different statements and each is prepared once.
	Elements(placeholder string) string
}
