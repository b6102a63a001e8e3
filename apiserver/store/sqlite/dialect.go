package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

//go:embed schema/*.sql
var schema embed.FS

// applicationMark is in the upper 16 bits of a file's application_id and marks it
// as this program's; the package comment describes the others. Versions before the
// first release wrote unreleasedMark, with schemas that can't be migrated.
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
	const fields = `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT COUNT(*) FROM sqlite_schema)`
	rows, err := q.QueryContext(ctx, fields)
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

// SetSchemaVersion implements sqlstore.Dialect. It gives a database without a
// generation an instance and one. A pragma takes no placeholder.
func (dialect) SetSchemaVersion(ctx context.Context, q sqlstore.Querier, version int) error {
	current, err := readUserVersion(ctx, q)
	if err != nil {
		return err
	}
	generation := nextGeneration(current >> 8)
	if current>>8 == 0 {
		var application uint32
		application, generation = newIdentity()
		if _, err := q.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, application)); err != nil {
			return err
		}
	}
	_, err = q.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, userVersion(generation, version)))
	return err
}

func readUserVersion(ctx context.Context, q sqlstore.Querier) (version uint32, err error) {
	rows, err := q.QueryContext(ctx, `PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		err = rows.Scan(&version)
	}
	return version, errors.Join(err, rows.Close(), rows.Err())
}

// newIdentity returns the application_id and the first generation of a database.
func newIdentity() (application, generation uint32) {
	return applicationMark<<16 | rand.Uint32N(1<<16), 1 + rand.Uint32N(generations-1)
}

// userVersion returns a user_version, which holds the schema's version too.
func userVersion(generation uint32, version int) uint32 { return generation<<8 | uint32(version) }

// Hidden implements sqlstore.Dialect.
func (dialect) Hidden(placeholder string) string { return "+" + placeholder }

// SkipLocked implements sqlstore.Dialect.
func (dialect) SkipLocked() string { return "" }

// Columns implements sqlstore.Dialect.
func (dialect) Columns(table string) string {
	return `SELECT name, 0, "notnull", pk FROM pragma_table_info('` + table + `') ORDER BY cid`
}

// Freeze implements sqlstore.Dialect.
func (dialect) Freeze([]string) string { return "" }

// ContinueIDs implements sqlstore.Dialect.
func (dialect) ContinueIDs(string) string { return "" }

// Elements implements sqlstore.Dialect.
func (dialect) Elements(placeholder string) string {
	return `SELECT value FROM json_each(` + placeholder + `)`
}
