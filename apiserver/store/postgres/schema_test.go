package postgres_test

import (
	"context"
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// TestObjects checks that the files schema/objects*.txt describe the schemas that the migrations make.
func TestObjects(t *testing.T) {
	s := openAt(t, strings.Replace(postgrestest.EmptyURL(t), "//mailhost@", "//postgres@", 1), postgres.Options{}.WithMigration("SELECT 1")) // without the check
	storetest.EachSchema(t, postgres.Schema, func(version int, statements string) string {
		text, err := postgres.Describe(t.Context(), s, version, statements)
		assert.NilError(t, err)
		return text
	})
}

// TestSameSchemaAsSQLite checks that both engines create the same tables, columns, keys, indexes and
// triggers, also after the migration for a new field that CONTRIBUTING.md shows.
func TestSameSchemaAsSQLite(t *testing.T) {
	url := postgrestest.EmptyURL(t)
	openAt(t, url, postgres.Options{})
	execute(t, url, `ALTER TABLE mailboxes ADD COLUMN added_by_the_guide TEXT COLLATE "C" NOT NULL DEFAULT ''`)
	path := filepath.Join(t.TempDir(), "mailhost.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	assert.NilError(t, err)
	assert.NilError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	assert.NilError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `ALTER TABLE mailboxes ADD COLUMN added_by_the_guide TEXT NOT NULL DEFAULT ''`)
	assert.NilError(t, err)
	ours, theirs := describePostgres(t, url), storetest.Describe(t, db)
	for _, lines := range []map[string]bool{ours, theirs} {
		maps.DeleteFunc(lines, func(line string, _ bool) bool { return strings.Contains(line, " mailhost_") }) // versions of the schema
	}
	assert.Check(t, len(ours) >= 100, "only %d lines describe the schema", len(ours))
	for _, line := range slices.Sorted(maps.Keys(ours)) {
		assert.Check(t, theirs[line], "only on PostgreSQL: %s", line)
	}
	for _, line := range slices.Sorted(maps.Keys(theirs)) {
		assert.Check(t, ours[line], "only on SQLite: %s", line)
	}
}

// describePostgres returns the lines of storetest.Describe for a PostgreSQL database.
func describePostgres(t *testing.T, url string) map[string]bool {
	conn, err := pgx.Connect(t.Context(), url)
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	found := map[string]bool{}
	for _, query := range []string{
		`SELECT format('column %s.%s %s not null %s default %s', c.relname, a.attname,
			CASE a.atttypid WHEN 'text'::regtype THEN CASE a.attcollation WHEN 'pg_catalog."C"'::regcollation THEN 'TEXT' ELSE 'TEXT in another order' END
				WHEN 'bytea'::regtype THEN 'BLOB' ELSE 'INTEGER' END,
			a.attnotnull, CASE pg_get_expr(d.adbin, d.adrelid) WHEN 'false' THEN '0' WHEN 'true' THEN '1' ELSE regexp_replace(COALESCE(pg_get_expr(d.adbin, d.adrelid), ''), '::text$', '') END)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
		`SELECT format('index on %s (%s) unique %s partial %s', c.relname,
			(SELECT string_agg(CASE WHEN definition LIKE '%(%' THEN '*' ELSE definition END, ' ' ORDER BY n) 
				FROM generate_series(0, i.indnkeyatts - 1) n,
				regexp_replace(pg_get_indexdef(i.indexrelid, n + 1, true), '^sha256\(decode\(replace\((\w+), .*', '\1') definition), -- an index can't hold a long text
			i.indisunique, i.indpred IS NOT NULL)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'public'::regnamespace`,
		`SELECT format('reference %s (%s) to %s (%s) on delete %s', conrelid::regclass,
			(SELECT string_agg(attname, ' ' ORDER BY p) FROM unnest(conkey) WITH ORDINALITY k (n, p) JOIN pg_attribute ON attrelid = conrelid AND attnum = n),
			confrelid::regclass,
			(SELECT string_agg(attname, ' ' ORDER BY p) FROM unnest(confkey) WITH ORDINALITY k (n, p) JOIN pg_attribute ON attrelid = confrelid AND attnum = n),
			CASE confdeltype WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END)
		FROM pg_constraint WHERE contype = 'f'`,
		`SELECT format('trigger on an update of %s.%s', t.tgrelid::regclass, a.attname) FROM pg_trigger t
		JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE NOT t.tgisinternal AND t.tgtype & 16 <> 0 AND (cardinality(t.tgattr::int2[]) = 0 OR a.attnum = ANY (t.tgattr))`,
	} {
		rows, err := conn.Query(t.Context(), query)
		assert.NilError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		assert.NilError(t, err)
		for _, line := range lines {
			found[line] = true
		}
	}
	return found
}

// TestCreatorsFromAuditLog checks that the migration finds the creators of existing service accounts and
// grants in the audit log.
func TestCreatorsFromAuditLog(t *testing.T) {
	url := postgrestest.EmptyURL(t)
	files, err := filepath.Glob("schema/*.sql")
	assert.NilError(t, err)
	for _, file := range files[:slices.Index(files, "schema/"+storetest.CreatorsMigration)+1] {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		if filepath.Base(file) == storetest.CreatorsMigration {
			execute(t, url, strings.ReplaceAll(storetest.BeforeCreators, "x''", "''"))
		}
		execute(t, url, string(text))
	}
	conn, err := pgx.Connect(t.Context(), url)
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), storetest.SelectCreators)
	assert.NilError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	assert.NilError(t, err)
	assert.DeepEqual(t, got, storetest.Creators)
}
