package storetest

import (
	"database/sql"
	"testing"

	"gotest.tools/v3/assert"
)

// Describe returns a line for each column, index, foreign key and column with a trigger of an SQLite
// database. In an index, * stands for an expression.
func Describe(t *testing.T, db *sql.DB) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, query := range []string{
		`SELECT format('column %s.%s %s not null %s default %s', t.name, c.name, c.type, CASE c."notnull" WHEN 1 THEN 't' ELSE 'f' END,
			CASE lower(c.dflt_value) WHEN 'false' THEN '0' WHEN 'true' THEN '1' ELSE COALESCE(c.dflt_value, '') END)
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
		`SELECT format('index on %s (%s) unique %s partial %s', t.name,
			(SELECT group_concat(COALESCE(x.name, '*'), ' ') FROM (SELECT name FROM pragma_index_xinfo(i.name) WHERE key ORDER BY seqno) x),
			CASE i."unique" WHEN 1 THEN 't' ELSE 'f' END, CASE i.partial WHEN 1 THEN 't' ELSE 'f' END)
		FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table'`,
		`SELECT format('index on %s (%s) unique t partial f', t.name, c.name) FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.pk = 1 AND c.type = 'INTEGER' AND (SELECT COUNT(*) FROM pragma_table_info(t.name) WHERE pk) = 1`,
		`SELECT format('reference %s (%s) to %s (%s) on delete %s', t.name, group_concat(f."from", ' '), f."table", group_concat(f."to", ' '), f.on_delete)
		FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table' GROUP BY t.name, f.id`,
		`SELECT format('trigger on an update of %s.%s', t.tbl_name, c.name)
		FROM (SELECT tbl_name, ' ' || replace(replace(replace(sql, ',', ' '), char(10), ' '), char(9), ' ') AS sql FROM sqlite_schema WHERE type = 'trigger') t
		JOIN pragma_table_info(t.tbl_name) c
		WHERE t.sql LIKE '%AFTER UPDATE ON%' OR t.sql LIKE '%AFTER UPDATE OF%' AND instr(substr(t.sql, 1, instr(t.sql, ' ON ')), ' ' || c.name || ' ') > 0`,
	} {
		rows, err := db.QueryContext(t.Context(), query)
		assert.NilError(t, err, query)
		for rows.Next() {
			var line string
			assert.NilError(t, rows.Scan(&line))
			found[line] = true
		}
		assert.NilError(t, rows.Err(), query)
	}
	return found
}
