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

// applicationMark is in the upper 16 bits of a file's application_id. Versions before the first
// release wrote unreleasedMark.
const (
	applicationMark = 0x6D68
	unreleasedMark  = 0x4D48
)

// dialect is SQLite's sqlstore.Dialect.
type dialect struct {
	migrations fs.FS // nil: schema
}

var _ sqlstore.Dialect = dialect{}

// Migrations implements sqlstore.Dialect.
func (d dialect) Migrations() fs.FS {
	if d.migrations != nil {
		return d.migrations
	}
	sub, _ := fs.Sub(schema, "schema") // the name is a valid one
	return sub
}

// SchemaVersion implements sqlstore.Dialect. It refuses the database of another program.
func (dialect) SchemaVersion(ctx context.Context, q sqlstore.Querier) (int, error) {
	var application, version, tables int
	if err := queryRow(ctx, q, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_schema)`, &application, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case application>>16 == applicationMark:
		return version & 0xff, nil
	case application>>16 == unreleasedMark:
		return 0, errUnreleased
	case application != 0 || version != 0 || tables != 0:
		return 0, errOtherProgram
	}
	return 0, nil
}

// SetSchemaVersion implements sqlstore.Dialect. A pragma takes no placeholder.
func (dialect) SetSchemaVersion(ctx context.Context, q sqlstore.Querier, version int) error {
	_, err := q.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationMark<<16, version))
	return err
}

// Hidden implements sqlstore.Dialect.
func (dialect) Hidden(placeholder string) string { return "+" + placeholder }

// SkipLocked implements sqlstore.Dialect.
func (dialect) SkipLocked() string { return "" }

// Columns implements sqlstore.Dialect.
func (dialect) Columns(table string) string {
	return `SELECT name, 0, "notnull", pk FROM pragma_table_info('` + table + `') ORDER BY cid`
}

// Objects implements sqlstore.Dialect.
func (dialect) Objects() string {
	return `SELECT type || ' ' || name, CASE type WHEN 'table' THEN '' ELSE sql END FROM sqlite_schema WHERE type <> 'index' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1`
}

// Freeze implements sqlstore.Dialect.
func (dialect) Freeze([]string) string { return "" }

// ContinueIDs implements sqlstore.Dialect.
func (dialect) ContinueIDs(string) string { return "" }

// Elements implements sqlstore.Dialect.
func (dialect) Elements(placeholder string) string {
	return `SELECT value FROM json_each(` + placeholder + `)`
}
