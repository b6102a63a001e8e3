package sqlite

import (
	"context"
	"embed"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

//go:embed schema/*.sql schema/*.txt
var schema embed.FS

// applicationMark is the upper half of a file's 32-bit application_id.
const applicationMark = 0x6D68

var dialect = sqlstore.Dialect{
	Migrations:    schema,
	SchemaVersion: schemaVersion,
	Mark: func(version int) string { // a pragma takes no placeholder
		return fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationMark<<16, version)
	},
	Own: schema,
	// ANALYZE makes the tables sqlite_stat1 and sqlite_stat4, and .recover of SQLite's command line makes lost_and_found.
	Objects: `SELECT CASE type WHEN 'table' THEN 1 ELSE 2 END, type || ' ' || name || CASE WHEN type IN ('index', 'trigger') THEN ' of the table ' || tbl_name ELSE '' END,
			replace(COALESCE(sql, ''), char(13, 10), char(10)), format('DROP %s "%w"', upper(type), name), '', CASE type WHEN 'table' THEN format('ALTER TABLE "%w" RENAME TO ', name) ELSE '' END
		FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL) AND NOT (type = 'table' AND (name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4') OR name LIKE 'lost_and_found%'
			AND trim(replace(sql, 'CREATE TABLE ' || name || '(rootpgno INTEGER, pgno INTEGER, nfield INTEGER, id INTEGER', ''), 'c0123456789, )') = '')) ORDER BY 1, 2`,
	Elements: `SELECT value FROM json_each(%s)`,
	Columns: `SELECT t.name, c.name, 0, c."notnull", c.pk > 0 FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' ORDER BY t.name, c.cid`,
}

// schemaVersion refuses the database of another program.
func schemaVersion(ctx context.Context, q sqlstore.Querier) (version, compatible int, err error) {
	var application, tables, listed int
	if err := sqlstore.ScanRow(ctx, q, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT COUNT(*) FROM sqlite_schema), (SELECT COUNT(*) FROM sqlite_schema WHERE name = 'mailhost_migrations')`, nil, &application, &version, &tables, &listed); err != nil {
		return 0, 0, err
	}
	switch {
	case application>>16 == applicationMark:
		version &= 0xff
	case application == 0 && version == 0 && listed > 0: // .dump of the command line omits both
		err = sqlstore.ScanRow(ctx, q, `SELECT COUNT(*) FROM mailhost_migrations`, nil, &version)
	case application != 0 || version != 0 || tables != 0:
		return 0, 0, errOtherProgram
	}
	return version, version, err
}
