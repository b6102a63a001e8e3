package sqlite

import (
	"context"
	"embed"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

//go:embed schema/*.sql
var schema embed.FS

// applicationMark is the upper half of a file's 32-bit application_id.
const applicationMark = 0x6D68

var dialect = sqlstore.Dialect{
	Migrations:    schema,
	SchemaVersion: schemaVersion,
	SetSchemaVersion: func(ctx context.Context, q sqlstore.Querier, version int) error { // a pragma takes no placeholder
		_, err := q.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationMark<<16, version))
		return err
	},
	Objects: `SELECT type || ' ' || name, CASE type WHEN 'table' THEN '' ELSE sql END FROM sqlite_schema
		WHERE type <> 'index' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1`,
	Elements: `SELECT value FROM json_each(%s)`,
	Columns: `SELECT t.name, c.name, 0, c."notnull", c.pk > 0 FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' ORDER BY t.name, c.cid`,
}

// schemaVersion refuses the database of another program.
func schemaVersion(ctx context.Context, q sqlstore.Querier, _ int) (int, error) {
	var application, version, tables int
	if err := sqlstore.ScanRow(ctx, q, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT COUNT(*) FROM sqlite_schema)`, nil, &application, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case application>>16 == applicationMark:
		return version & 0xff, nil
	case application != 0 || version != 0 || tables != 0:
		return 0, errOtherProgram
	}
	return 0, nil
}
