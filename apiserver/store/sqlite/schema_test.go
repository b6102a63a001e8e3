package sqlite

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// later returns the options of a later program version with one more migration.
func later(migration string) Options {
	return Options{migrations: storetest.Migrations(dialect.Migrations, migration)}
}

// TestObjects checks that the files schema/objects*.txt describe the schemas that the migrations make.
func TestObjects(t *testing.T) {
	storetest.EachSchema(t, schema, func(_ int, statements string) string {
		path, err := newOrExistingFile(newPath(t))
		assert.NilError(t, err)
		s, err := connect(t.Context(), path, Options{}.withDefaults().toWrite())
		assert.NilError(t, err)
		assert.NilError(t, s.exec(sqlstore.MigrationsTable+"; "+statements))
		text, err := sqlstore.Describe(t.Context(), s, &dialect)
		assert.NilError(t, errors.Join(err, s.close()))
		return text
	})
}

// laterMigration can't be run twice.
const laterMigration = `CREATE TABLE later (id TEXT) STRICT`

// makeLater creates a database with the schema of a later program version.
func makeLater(t *testing.T, path string) {
	t.Helper()
	assert.NilError(t, openStore(t, path, later(laterMigration)).Close())
}

// TestMigration checks that a later program version migrates a store once and keeps its
// content, and that this version then rejects it.
func TestMigration(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	if _, err := create(t.Context(), s, "ada"); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, s.Close())
	const migration = `ALTER TABLE accounts ADD COLUMN phone TEXT NOT NULL DEFAULT ''; UPDATE mailboxes SET local_part = local_part || '2'`
	if _, err := Open(t.Context(), path, later(migration+`; no SQL`)); err == nil || !strings.Contains(err.Error(), "_later.sql") {
		t.Errorf("a migration that fails: %v", err)
	}
	if err := openStore(t, path, Options{}).Close(); err != nil { // unchanged
		t.Error(err)
	}
	for range 2 {
		s := openStore(t, path, later(migration))
		assert.Check(t, is.DeepEqual(addresses(t, s), []string{"ada2"}), "the mailboxes")
		check(t, s)
		assert.Check(t, s.Close())
	}
	_, err := Open(t.Context(), path, Options{})
	assert.Assert(t, errors.Is(err, store.ErrNewerSchema), "Open = %v, want ErrNewerSchema", err)
	for _, want := range []string{path, "knows up to", "run the newer version"} {
		assert.Check(t, strings.Contains(err.Error(), want), "%q lacks %q", err, want)
	}
}

// TestOtherSchema checks that a store is refused and not changed if its schema has this version and
// other content: another build made it, or somebody added to it or changed a trigger.
func TestOtherSchema(t *testing.T) {
	const first, another = "0001_initial.sql", "another build"
	same := func(text string) string { return text }
	for name, c := range map[string]struct {
		change     func(text string) string // of the first migration
		statements string
		want       []string // nil: the store can be opened
	}{
		"a further column":        {func(text string) string { return text + `; ALTER TABLE accounts ADD COLUMN phone TEXT` }, ``, []string{first, another}},
		"no list of migrations":   {same, `DROP TABLE mailhost_migrations`, []string{"list of migrations", another}},
		"an empty list":           {same, `DELETE FROM mailhost_migrations`, []string{first, another}},
		"lines that end with CRs": {func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }, ``, nil},
		"statistics":              {same, `ANALYZE`, nil},
		"an index":                {same, `CREATE INDEX i ON mailboxes (first_name)`, []string{"the index i of the table mailboxes"}},
		"a table":                 {same, `CREATE TABLE own (id)`, []string{"the table own"}},
		"a view":                  {same, `CREATE VIEW accounts2 AS SELECT * FROM accounts`, []string{"the view accounts2"}},
		"a trigger":               {same, `CREATE TRIGGER evil AFTER INSERT ON mailboxes BEGIN DELETE FROM accounts;END`, []string{"the trigger evil"}},
		"another trigger": {
			same, `DROP TRIGGER accounts_inserted; CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts BEGIN DELETE FROM mailboxes;END`,
			[]string{"the trigger accounts_inserted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := storetest.Migrations(dialect.Migrations)
			file := files["schema/"+first]
			file.Data = []byte(c.change(string(file.Data)))
			path := newPath(t)
			s := openStore(t, path, Options{migrations: files})
			for statement := range strings.SplitSeq(c.statements, "; ") {
				execute(t, s, cmp.Or(statement, `SELECT 1`))
			}
			assert.NilError(t, s.Close())
			content := readAll(t, path)
			for _, opts := range []Options{{}, {ReadOnly: true}} {
				s, err := Open(t.Context(), path, opts)
				if err == nil {
					err = s.Close()
				}
				assert.Assert(t, (err == nil) == (c.want == nil), "read-only %t: Open = %v, want an error with %q", opts.ReadOnly, err, c.want)
				for _, want := range c.want {
					assert.Check(t, strings.Contains(err.Error(), path) && strings.Contains(err.Error(), want), "%q lacks the path or %q", err, want)
				}
				assert.Check(t, c.want == nil || readAll(t, path) == content, "the file was changed")
			}
		})
	}
}

// TestUnpaidIndex checks that the literal in the schema's partial index equals the
// constant of package vocab, because a query with another literal does not use the index.
func TestUnpaidIndex(t *testing.T) {
	query(t, openStore(t, newPath(t), Options{}), `SELECT COUNT(*) FROM domains INDEXED BY domains_unpaid WHERE state_status = '`+vocab.DomainPendingPayment+`'`)
}

// TestAuthorizationVersionOfEachColumn checks that the triggers cover every column, even
// if a statement updates only that column.
func TestAuthorizationVersionOfEachColumn(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	storetest.Fill(t, s)
	columns := query(t, s, `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name IN ('accounts', 'service_accounts', 'authorizations')`)
	const version = `SELECT version FROM authorization_version`
	for _, c := range columns {
		before := column(t, s, version)
		execute(t, s, `UPDATE `+c[0]+` SET `+c[1]+` = `+c[1])
		changed := !slices.Equal(column(t, s, version), before)
		if changed != (c[1] != "last_used_at") {
			t.Errorf("an update of %s.%s changes the version of authorizations: %t; name the column in the triggers %s_updated (apiserver/store/sqlite/schema) and %s_changed (apiserver/store/postgres/schema), which a new migration drops and creates",
				c[0], c[1], changed, c[0], c[0])
		}
	}
	assert.Check(t, len(columns) >= 30, "only the columns %v were found", columns)
}

// foreignKey is a foreign key of the schema.
type foreignKey struct{ table, refersTo, onDelete string }

func foreignKeys(t *testing.T, s *Store) (keys []foreignKey) {
	t.Helper()
	// A composite key has one row per column.
	for _, row := range query(t, s, `SELECT m.name, k."table", k.on_delete FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k
		WHERE m.type = 'table' AND k.seq = 0 ORDER BY m.name, k.id`) {
		keys = append(keys, foreignKey{row[0], row[1], row[2]})
	}
	assert.Assert(t, len(keys) >= 10, "only %d foreign keys were found: %v", len(keys), keys)
	return keys
}

// tables is a query of the tables with content of the service.
const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('authorization_version', 'mailhost_migrations', 'server')`

// TestTables checks that sqlstore.Tables lists every table of the schema before the tables that
// it references, so that Clear violates no foreign key; and that storetest.Fill adds a row to
// each, because other tests rely on a store without empty tables.
func TestTables(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	storetest.Fill(t, s)
	known := sqlstore.Tables()
	want := column(t, s, tables)
	for _, table := range want {
		if !slices.Contains(known, table) {
			t.Errorf("sqlstore.Tables lacks %s: declare it with newKind, or name it in the parts of a kind or in otherTables (apiserver/store/sqlstore/store.go)", table)
		}
	}
	for _, table := range known {
		assert.Check(t, slices.Contains(want, table), "sqlstore.Tables has %s, which no migration makes", table)
	}
	assert.Check(t, len(slices.Compact(slices.Sorted(slices.Values(known)))) == len(known), "sqlstore.Tables has a table twice: %q", known)
	for _, key := range foreignKeys(t, s) {
		if key.onDelete != "CASCADE" && slices.Index(known, key.table) >= slices.Index(known, key.refersTo) {
			t.Errorf("%s references %s and comes after it in sqlstore.Tables()", key.table, key.refersTo)
		}
	}
	for _, table := range known {
		if len(query(t, s, `SELECT 1 FROM `+table+` LIMIT 1`)) == 0 {
			t.Errorf("%s is empty; add a row for it to withoutDomain in apiserver/store/storetest/clear.go, or to full if it is in a domain or an account with such a row can't be deleted", table)
		}
	}
}
