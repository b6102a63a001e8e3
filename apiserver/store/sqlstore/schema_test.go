package sqlstore

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	_ "modernc.org/sqlite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// The directories of the engines' migrations. Messages name them from the root of the repository.
const (
	sqliteSchema   = "apiserver/store/sqlite/schema"
	postgresSchema = "apiserver/store/postgres/schema"
)

// require fails the test with a sentence that says what to write, unless right is true.
func require(t *testing.T, right bool, format string, args ...any) {
	t.Helper()
	if !right {
		t.Errorf(format, args...)
	}
}

// migrations returns the texts of a directory's migrations by name.
func migrations(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*.sql"))
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 4, "%s has the files %q", dir, files)
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// migrated returns a database in memory with the migrations that translate returns in SQLite's SQL.
func migrated(t *testing.T, dir string, texts map[string]string, translate func(string) string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	assert.NilError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		_, err := db.ExecContext(t.Context(), translate(texts[name]))
		assert.NilError(t, err, "%s; if the engine takes it, teach it to fromPostgres in apiserver/store/sqlstore/schema_test.go", path.Join(dir, name))
	}
	return db
}

func sqliteDatabase(t *testing.T) *sql.DB {
	t.Helper()
	return migrated(t, sqliteSchema, migrations(t, sqliteSchema), func(text string) string { return text })
}

// TestSameSchemas checks without a PostgreSQL server that the migrations of both engines make the same
// tables, columns, keys and indexes, and triggers of the same columns. TestSameSchemaAsSQLite in
// package postgres asks a server.
func TestSameSchemas(t *testing.T) {
	ours, theirs := migrations(t, sqliteSchema), migrations(t, postgresSchema)
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		require(t, theirs[name] != "", "%s is missing: write there in PostgreSQL's types what %s does", path.Join(postgresSchema, name), path.Join(sqliteSchema, name))
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		require(t, ours[name] != "", "%s is missing: write there in SQLite's types what %s does", path.Join(sqliteSchema, name), path.Join(postgresSchema, name))
	}
	postgres := migrated(t, postgresSchema, theirs, fromPostgres)
	types := postgresTypes(t, postgres, theirs)
	for _, column := range slices.Sorted(maps.Keys(types)) {
		file := path.Join(postgresSchema, lastWith(theirs, column))
		require(t, types[column] != "TEXT_IN_ANOTHER_ORDER", `%s is TEXT without a collation in %s: write TEXT COLLATE "C"`, column, file)
		require(t, types[column] != "INTEGER_OF_32_BITS", `%s is INTEGER in %s: write BIGINT, or BOOLEAN`, column, file)
	}
	if t.Failed() {
		return
	}
	inSQLite := storetest.Describe(t, sqliteDatabase(t))
	inPostgres := map[string]bool{}
	for line := range storetest.Describe(t, postgres) {
		inPostgres[strings.Replace(line, " BOOLEAN not null", " INTEGER not null", 1)] = true
	}
	onlyIn := func(lines, others map[string]bool, has, lacks string, texts map[string]string) {
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			file := lastWith(texts, nameIn(line))
			require(t, others[line], "%s lacks what %s makes, the %s: write it in the same file", lacks, path.Join(has, file), line)
		}
	}
	onlyIn(inSQLite, inPostgres, sqliteSchema, postgresSchema, ours)
	onlyIn(inPostgres, inSQLite, postgresSchema, sqliteSchema, theirs)
	for _, d := range declared {
		for _, c := range d.fields {
			column := d.name + "." + c.name
			want := sqlType(d.object.FieldByIndex(c.index).Type)
			require(t, types[column] == "" || types[column] == want, "%s is %s in %s: write %s, as %s has a %s", column,
				inPostgresWords.Replace(types[column]), path.Join(postgresSchema, lastWith(theirs, column)), inPostgresWords.Replace(want), d.object, d.object.FieldByIndex(c.index).Type)
		}
	}
}

// nameIn returns the table.column or the table that a line of storetest.Describe describes.
func nameIn(line string) string {
	return regexp.MustCompile(`^(?:column|index on|reference|trigger on an update of) ([\w.]+)`).FindStringSubmatch(line)[1]
}

// lastWith returns the last migration that names all words of a name such as table.column.
func lastWith(texts map[string]string, name string) string {
	for _, file := range slices.Backward(slices.Sorted(maps.Keys(texts))) {
		if !slices.ContainsFunc(strings.Split(name, "."), func(word string) bool {
			return !regexp.MustCompile(`\b` + word + `\b`).MatchString(texts[file])
		}) {
			return file
		}
	}
	return ""
}

// sqlType returns the type of a field's column, as fromPostgres writes it.
func sqlType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]() || t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return "INTEGER"
	case t == reflect.TypeFor[[]byte]():
		return "BLOB"
	case t.Kind() == reflect.Bool:
		return "BOOLEAN"
	}
	return "TEXT"
}

var (
	comment        = regexp.MustCompile(`--[^\n]*`)
	function       = regexp.MustCompile(`(?s)CREATE FUNCTION .*?\$\$.*?\$\$;`)
	data           = regexp.MustCompile(`(?m)^(?:INSERT|UPDATE|DELETE|SELECT|WITH)\b[^;]*;`)
	retype         = regexp.MustCompile(`ALTER TABLE (\w+) ALTER COLUMN (\w+) TYPE (\w+)\b[^;]*;`)
	hashed         = regexp.MustCompile(`sha256\(decode\(replace\((\w+), [^;]*?'escape'\)\)|hashtextextended\((\w+), 0\)`)
	droppedTrigger = regexp.MustCompile(`DROP TRIGGER (\w+) ON \w+`)
	trigger        = regexp.MustCompile(`(?s)CREATE TRIGGER (\w+) AFTER [^;]*?(UPDATE(?: OF [\w,\s]+?)?)(?: OR \w+)*\s+ON (\w+)\s+FOR EACH ROW EXECUTE FUNCTION \w+\(\);`)
	// sqliteWords lists PostgreSQL's types first, and then the types that a column can't have.
	sqliteWords = strings.NewReplacer(
		`TEXT COLLATE "C"`, "TEXT", "BIGINT GENERATED BY DEFAULT AS IDENTITY", "INTEGER", "BIGINT", "INTEGER", "BYTEA", "BLOB",
		"INTEGER NOT NULL PRIMARY KEY CHECK", "INTEGER NOT NULL PRIMARY KEY CHECK", // of a table with one row
		"TEXT", "TEXT_IN_ANOTHER_ORDER", "INTEGER", "INTEGER_OF_32_BITS")
	inPostgresWords = strings.NewReplacer("TEXT", `TEXT COLLATE "C"`, "INTEGER", "BIGINT", "BLOB", "BYTEA")
)

// fromPostgres translates statements of the PostgreSQL migrations to SQLite, without their data.
func fromPostgres(text string) string {
	for _, left := range []*regexp.Regexp{comment, function, data, retype} {
		text = left.ReplaceAllString(text, "")
	}
	text = hashed.ReplaceAllString(text, "$1$2") // an index can't hold a long text
	text = droppedTrigger.ReplaceAllString(text, "DROP TRIGGER $1")
	text = trigger.ReplaceAllString(text, "CREATE TRIGGER $1 AFTER $2 ON $3 BEGIN SELECT 1; END;")
	return sqliteWords.Replace(text)
}

// postgresTypes returns the types of table.column in a database of fromPostgres.
func postgresTypes(t *testing.T, db *sql.DB, texts map[string]string) map[string]string {
	t.Helper()
	types := map[string]string{}
	for _, row := range rowsOf(t, db, `SELECT t.name || '.' || c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`) {
		types[row[0]] = row[1]
	}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		for _, match := range retype.FindAllStringSubmatch(comment.ReplaceAllString(texts[file], ""), -1) {
			types[match[1]+"."+match[2]] = sqliteWords.Replace(match[3])
		}
	}
	return types
}

func rowsOf(t *testing.T, db *sql.DB, query string) (all [][3]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	assert.NilError(t, err)
	columns, err := rows.Columns()
	assert.NilError(t, err)
	for rows.Next() {
		var row [3]string
		assert.NilError(t, rows.Scan([]any{&row[0], &row[1], &row[2]}[:len(columns)]...))
		all = append(all, row)
	}
	assert.NilError(t, rows.Err())
	return all
}

// TestDeclarations compares the references that each newKind declares with the schema, because
// DeleteAccount, the deletion of a domain and Tables depend on them.
func TestDeclarations(t *testing.T) {
	db := sqliteDatabase(t)
	kindOf, owner := map[string]kind{}, map[string]string{}
	for _, k := range kinds {
		kindOf[k.name] = k
		for _, part := range k.parts {
			owner[part] = k.name
		}
	}
	var refers []string
	for _, key := range rowsOf(t, db, `SELECT m.name, k."table", k.on_delete FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) k
		WHERE m.type = 'table' AND k.seq = 0 ORDER BY m.name, k.id`) { // a composite key has a row for each column
		table, to, onDelete := key[0], key[1], key[2]
		refers = append(refers, table+" to "+to)
		k, isKind := kindOf[table]
		cascades := owner[table] == to || isKind && k.parent == to && !k.restrict // Go deletes the objects first
		require(t, !isKind || k.parent == to || slices.Contains(k.refersTo, to),
			"%s refers to %s, and its declaration in apiserver/store/sqlstore does not: if its objects are deleted with those of %s, write newKind(%s.name, …, otherwise add that to its refersTo", table, to, to, to)
		require(t, owner[table] != to || onDelete == "CASCADE",
			"%s is in the parts of %s, and its foreign key deletes nothing: write ON DELETE CASCADE in %s and %s", table, to, sqliteSchema, postgresSchema)
		require(t, onDelete == "NO ACTION" || onDelete == "CASCADE" && cascades,
			"a deletion from %s changes %s (%s), which the audit log does not record: leave that out of %s and %s, or add %s to the parts of %s if its rows are a part of an object", to, table, onDelete, sqliteSchema, postgresSchema, table, to)
	}
	columns := map[string]bool{}
	for _, row := range rowsOf(t, db, `SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`) {
		columns[row[0]] = true
	}
	for _, k := range kinds {
		for _, to := range append([]string{k.parent}, k.refersTo...) {
			require(t, to == "" || slices.Contains(refers, k.name+" to "+to), "%s is declared to refer to %s, and lacks a foreign key to it: add one in %s and %s", k.name, to, sqliteSchema, postgresSchema)
		}
		for _, part := range k.parts {
			require(t, slices.Contains(refers, part+" to "+k.name), "%s is in the parts of %s, and lacks a foreign key to it: add one with ON DELETE CASCADE in %s and %s", part, k.name, sqliteSchema, postgresSchema)
		}
		require(t, columns[k.name+".domain_id"] == (k.parent == domains.name),
			"%s has a DomainID: %t, and the parent %q: write newKind(domains.name, … for objects with a DomainID, and only for those, so that they are deleted with their domain", k.name, columns[k.name+".domain_id"], k.parent)
	}
	for _, object := range objects(t) {
		require(t, slices.ContainsFunc(kinds, func(k kind) bool { return k.object.Elem().Name() == object }),
			"no table stores a store.%s: declare one with newKind in a file of apiserver/store/sqlstore, as mailbox.go does", object)
	}
}

// objects returns the names of the types in package store that are a store.Object.
func objects(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	assert.NilError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^func \(\w+ (\w+)\) Identity\(\) Identity`).FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
	}
	assert.Assert(t, len(names) >= 10, fmt.Sprint(names))
	return names
}

// TestEvents checks that each time of an object is known as that of an event, which RepairTimes may set to now, or is
// planned for the future.
func TestEvents(t *testing.T) {
	past := []string{"created_at", "updated_at", "revoked_at", "last_used_at", "sent_at", "verified_at"}
	for _, d := range declared {
		events := d.events()
		for _, c := range events {
			require(t, slices.Contains(past, c), "%s.%s: if its time may be in the future, list it in planned of the table; otherwise add it to this test, and RepairTimes sets it to now when a server's clock was wrong", d.name, c)
		}
		require(t, len(events) == 0 || events[0] == "created_at" && slices.Contains(d.columns, "id"), "%s has times of events, and lacks created_at or id, which RepairTimes needs", d.name)
		for c := range d.planned {
			require(t, slices.Contains(d.columns, c), "%s has no column %s", d.name, c)
		}
	}
}

// TestCreatorsFromAuditLog checks that the migration finds the creators of existing service accounts and
// grants in the audit log. TestCreatorsFromAuditLog in package postgres checks the other engine.
func TestCreatorsFromAuditLog(t *testing.T) {
	texts := migrations(t, sqliteSchema)
	last := texts[storetest.CreatorsMigration]
	maps.DeleteFunc(texts, func(name, _ string) bool { return name >= storetest.CreatorsMigration })
	db := migrated(t, sqliteSchema, texts, func(text string) string { return text })
	_, err := db.ExecContext(t.Context(), storetest.BeforeCreators+last)
	assert.NilError(t, err)
	var got []string
	for _, row := range rowsOf(t, db, storetest.SelectCreators) {
		got = append(got, row[0])
	}
	assert.DeepEqual(t, got, storetest.Creators)
}
