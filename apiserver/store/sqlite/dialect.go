package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

//go:embed schema/*.sql
var schema embed.FS

// applicationID marks a file as ours. The first migration writes it.
const applicationID = 0x4D484F53

// dialect is SQLite's sqlstore.Dialect.
type dialect struct{}

var _ sqlstore.Dialect = dialect{}

// Migrations implements sqlstore.Dialect.
func (dialect) Migrations() fs.FS {
	sub, err := fs.Sub(schema, "schema")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return sub
}

// SchemaVersion implements sqlstore.Dialect. It refuses the database of another
// program, which may have tables or a version of its own.
func (dialect) SchemaVersion(ctx context.Context, q sqlstore.Querier) (int, error) {
	var application, version, tables int
	rows, err := q.QueryContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT COUNT(*) FROM sqlite_schema)`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&application, &version, &tables); err != nil {
			return 0, err
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if application == applicationID {
		return version, nil
	}
	if application != 0 || version != 0 || tables != 0 {
		return 0, errOtherProgram
	}
	return 0, nil
}

// SetSchemaVersion implements sqlstore.Dialect. A pragma takes no placeholder.
func (dialect) SetSchemaVersion(ctx context.Context, q sqlstore.Querier, version int) error {
	_, err := q.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version))
	return err
}

// Elements implements sqlstore.Dialect.
func (dialect) Elements(placeholder string) string {
	return `SELECT value FROM json_each(` + placeholder + `)`
}
