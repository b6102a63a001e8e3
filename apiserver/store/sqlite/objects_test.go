package sqlite

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// checkAfter returns a function that runs statements in a new store, returns what opening it would return then,
// and undoes all of it.
func checkAfter(t *testing.T) func(statements string) error {
	t.Helper()
	s := openStore(t, newPath(t), Options{})
	storetest.Fill(t, s)
	return func(statements string) (err error) {
		undo := errors.New("undo")
		undone := s.engine.Update(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
			if _, err := q.ExecContext(ctx, statements); err != nil {
				return err
			}
			_, err = sqlstore.UpToDate(ctx, q, &dialect, false)
			return undo
		})
		if !errors.Is(undone, undo) {
			return undone
		}
		return err
	}
}

// TestMissingObjects drops each object that the migrations make, and checks that the error names it, and that
// the statements of the error repair it.
func TestMissingObjects(t *testing.T) {
	check := checkAfter(t)
	text, err := schema.ReadFile("schema/objects.txt")
	assert.NilError(t, err)
	names := regexp.MustCompile(`(?m)^-- (\w+) (\w+).*$`).FindAllStringSubmatch(string(text), -1)
	assert.Assert(t, len(names) > 60, "only %d names were found", len(names))
	for _, match := range names {
		kind, name := match[1], match[2]
		drop := "DROP " + kind + " " + name
		if kind == "table" { // DROP TABLE deletes the rows, which others refer to
			drop = "PRAGMA defer_foreign_keys = on; " + drop
		}
		err := check(drop)
		want := strings.TrimPrefix(match[0], "-- ") + " is missing"
		if name == "mailhost_migrations" { // it is read first
			want = "read the list of migrations"
		}
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "after %s: %v, want %q", drop, err, want)
		if err == nil || kind == "table" {
			continue
		}
		_, repair, _ := strings.Cut(err.Error(), "run in the database `")
		repair, _, _ = strings.Cut(repair, "`")
		assert.Check(t, check(drop+"; "+repair), "after the repair of %s", drop)
	}
}

// TestChangedObjects checks that changes of the schema that change the program's reads and writes are refused, and that
// others are not.
func TestChangedObjects(t *testing.T) {
	check := checkAfter(t)
	for statements, want := range map[string]string{
		`DROP TRIGGER accounts_updated; CREATE TRIGGER accounts_updated AFTER UPDATE ON accounts BEGIN SELECT 1; END`:                                                                          "the trigger accounts_updated of the table accounts was changed",
		`DROP TRIGGER accounts_updated; CREATE TRIGGER accounts_updated AFTER UPDATE ON workspaces BEGIN UPDATE authorization_version SET version = random(); END`:                             "the trigger accounts_updated of the table workspaces is not this program's",
		`CREATE TRIGGER "a b" BEFORE UPDATE ON authorizations BEGIN SELECT RAISE(IGNORE); END`:                                                                                                 "`DROP TRIGGER \"a b\"`",
		`CREATE UNIQUE INDEX own ON authorizations (revoked_at)`:                                                                                                                               "the index own of the table authorizations is not this program's",
		`DROP INDEX dns_records_once; CREATE INDEX dns_records_once ON dns_records (domain_id)`:                                                                                                "the index dns_records_once of the table dns_records was changed",
		`CREATE VIRTUAL TABLE own USING fts5(x)`:                                                                                                                                               "the table own is not this program's",
		`CREATE TABLE lost_and_found (id TEXT REFERENCES accounts (id))`:                                                                                                                       "the table lost_and_found is not this program's",
		`CREATE TABLE lost_and_found(rootpgno INTEGER, pgno INTEGER, nfield INTEGER, id INTEGER, c0 CHECK (c0 > 0))`:                                                                           "the table lost_and_found is not this program's",
		`ALTER TABLE authorizations ADD COLUMN own TEXT CHECK (own IS NOT NULL OR revoked_at = 0)`:                                                                                             "the table authorizations was changed",
		`ALTER TABLE mailboxes RENAME COLUMN quota_used TO own`:                                                                                                                                "the table mailboxes was changed",
		`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'accounts'`:                                                                     "the table accounts was changed",
		`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, 'plan_id         TEXT    NOT NULL,', '-- x') WHERE name = 'accounts'`:                                        "the table accounts was changed",
		`PRAGMA writable_schema = on; INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_stat1', 'accounts', 0, 'CREATE TRIGGER sqlite_stat1 AFTER UPDATE ON accounts BEGIN SELECT 1; END')`: "the trigger sqlite_stat1 of the table accounts is not this program's",
		`PRAGMA writable_schema = on; INSERT INTO sqlite_schema VALUES ('trigger', 'accounts_updated', 'accounts', 0, 'CREATE TRIGGER own AFTER UPDATE ON accounts BEGIN SELECT 1; END')`:      "the trigger accounts_updated of the table accounts was changed",
		`DELETE FROM authorization_version`:                                    "the row of the table authorization_version is missing; to repair it, stop the servers and run in the database `INSERT INTO authorization_version VALUES (1, 1)`; otherwise",
		`DELETE FROM server`:                                                   "the row of the table server is missing",
		`PRAGMA user_version = 0`:                                              "it is marked as schema version 0, but its list of migrations has 5: the mark was changed; stop the servers and run in the database `PRAGMA application_id = 1835532288; PRAGMA user_version = 5`",
		`PRAGMA user_version = 256`:                                            "it is marked as schema version 0, but its list of migrations has 5",
		`PRAGMA user_version = 4`:                                              "it is marked as schema version 4, but its list of migrations has 5",
		`ALTER TABLE token_buckets RENAME TO tb`:                               "makes: the table token_buckets is there as the table tb; to repair it, stop the servers and run in the database `ALTER TABLE \"tb\" RENAME TO token_buckets`; otherwise",
		`ALTER TABLE domains RENAME TO d`:                                      "makes: the table domains is there as the table d; to repair",
		"CREATE TRIGGER \"a\nb\" AFTER UPDATE ON accounts BEGIN SELECT 1; END": `the "trigger a\nb of the table accounts" is not this program's; if something is another program's, use a database or a schema without it; if you made it, drop it; otherwise`,
		`ALTER TABLE workspaces ADD COLUMN x TEXT`:                             "makes: the table workspaces was changed; restore a backup that you trust",
		`INSERT INTO mailhost_migrations VALUES (99, 'x')`:                     "its list of migrations has",
	} {
		err := check(statements)
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "after %s: %v, want %q", statements, err, want)
	}
	for _, statements := range []string{
		`ANALYZE; PRAGMA optimize; REINDEX`,
		`CREATE TABLE lost_and_found(rootpgno INTEGER, pgno INTEGER, nfield INTEGER, id INTEGER, c0, c1, c22); INSERT INTO lost_and_found (pgno) VALUES (1)`,
		`ALTER TABLE domains RENAME TO d; ALTER TABLE d RENAME TO domains`,
		`CREATE TABLE lost_and_found_0(rootpgno INTEGER, pgno INTEGER, nfield INTEGER, id INTEGER, c0)`,
	} {
		assert.Check(t, check(statements), statements)
	}
}

// TestDump checks that a file with the statements of .dump of SQLite's command line, which omits the header, is a store.
func TestDump(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	storetest.Fill(t, s)
	execute(t, s, `PRAGMA application_id = 0; PRAGMA user_version = 0`)
	assert.NilError(t, s.Close())
	for _, opts := range []Options{{ReadOnly: true}, {}, {Exclusive: true}} {
		assert.Check(t, openStore(t, path, opts).Close())
	}
	assert.NilError(t, BackupFile(t.Context(), path, newPath(t)))
}

// TestReleases checks that the database of each release is upgraded to a schema that is accepted.
func TestReleases(t *testing.T) {
	files, err := filepath.Glob("../../../internal/examples/testdata/releases/*/mailhost.db.gz")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 2, "only %q were found", files)
	for _, file := range files {
		packed, err := os.Open(file)
		assert.NilError(t, err)
		unpacked, err := gzip.NewReader(packed)
		assert.NilError(t, err)
		content, err := io.ReadAll(unpacked)
		assert.NilError(t, errors.Join(err, packed.Close()))
		path := newPath(t)
		assert.NilError(t, os.WriteFile(path, content, 0o600))
		damaged := newPath(t)
		assert.NilError(t, os.WriteFile(damaged, content, 0o600))
		old, err := connect(t.Context(), damaged, Options{}.withDefaults().toWrite())
		assert.NilError(t, err)
		assert.NilError(t, errors.Join(old.exec(`DROP TRIGGER authorizations_updated`), old.close()))
		for _, opts := range []Options{{ReadOnly: true}, {}, {Exclusive: true}} {
			_, err := Open(t.Context(), damaged, opts)
			assert.Check(t, err != nil && strings.Contains(err.Error(), "the trigger authorizations_updated of the table authorizations is missing; to repair"), "%+v: %v", opts, err)
		}
		for range 2 {
			s := openStore(t, path, Options{})
			check(t, s)
			assert.NilError(t, s.Ping(t.Context()))
			assert.NilError(t, s.Close())
		}
	}
}

// TestWithoutTriggers checks that a change of authority fails in a store that lacks its triggers.
func TestWithoutTriggers(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	storetest.WithoutTriggers(t, s, func() {
		for _, name := range column(t, s, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
			execute(t, s, `DROP TRIGGER `+name)
		}
	})
}

// TestNewerSchemaWhileRunning checks that a running store becomes unready when a later version migrates its file, or
// when a table is gone.
func TestNewerSchemaWhileRunning(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	assert.NilError(t, s.Ping(t.Context()))
	execute(t, s, `ALTER TABLE mailboxes RENAME COLUMN quota_used TO own`)
	_, isSchema := errors.AsType[*store.SchemaError](s.Ping(t.Context()))
	assert.Check(t, isSchema && strings.Contains(s.Ping(t.Context()).Error(), "mailboxes (quota_used)"), "Ping = %v", s.Ping(t.Context()))
	execute(t, s, `ALTER TABLE mailboxes RENAME COLUMN own TO quota_used`)
	assert.NilError(t, s.Ping(t.Context()))
	for _, table := range []string{"token_buckets", "mailhost_migrations", "server", "authorization_version"} {
		execute(t, s, `ALTER TABLE `+table+` RENAME TO own`)
		_, isSchema = errors.AsType[*store.SchemaError](s.Ping(t.Context()))
		assert.Check(t, isSchema && strings.Contains(s.Ping(t.Context()).Error(), table), "Ping = %v", s.Ping(t.Context()))
		execute(t, s, `ALTER TABLE own RENAME TO `+table)
	}
	execute(t, s, `DELETE FROM authorization_version`)
	_, isSchema = errors.AsType[*store.SchemaError](s.Ping(t.Context()))
	assert.Check(t, isSchema, "Ping = %v", s.Ping(t.Context()))
	execute(t, s, `INSERT INTO authorization_version VALUES (1, 1)`)
	assert.NilError(t, s.Ping(t.Context()))
	makeLater(t, path)
	err := s.Ping(t.Context())
	_, isSchema = errors.AsType[*store.SchemaError](err)
	assert.Check(t, isSchema && errors.Is(err, store.ErrNewerSchema), "Ping = %v", err)
}
