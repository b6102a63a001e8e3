package postgres_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// openAsAdministrator opens a store with the current schema as a user who may do everything.
func openAsAdministrator(t *testing.T) *sqlstore.Store {
	t.Helper()
	s := openAt(t, strings.Replace(postgrestest.URL(t), "//mailhost@", "//postgres@", 1), postgres.Options{})
	storetest.Fill(t, s)
	return s
}

// objectName matches the name of an object in schema/objects.txt.
var objectName = regexp.MustCompile(`(?m)^-- (\w+) (\w+)(?: of the table (\w+))?$`)

// TestMissingObjects drops each object that the migrations make, and checks that the error names it, and that
// the statements of the error repair it.
func TestMissingObjects(t *testing.T) {
	t.Parallel()
	s := openAsAdministrator(t)
	text, err := os.ReadFile("schema/objects.txt")
	assert.NilError(t, err)
	names := objectName.FindAllStringSubmatch(string(text), -1)
	assert.Assert(t, len(names) > 200, "only %d names were found", len(names))
	for i, match := range names {
		kind, name, table := match[1], match[2], match[3]
		var drop string
		switch kind {
		case "column":
			if testing.Short() && i%10 > 0 {
				continue
			}
			drop = "ALTER TABLE " + table + " DROP COLUMN " + name + " CASCADE"
		case "constraint":
			drop = "ALTER TABLE " + table + " DROP CONSTRAINT " + name + " CASCADE"
		case "trigger":
			drop = "DROP TRIGGER " + name + " ON " + table
		default:
			drop = "DROP " + kind + " " + name + " CASCADE"
		}
		err := postgres.Check(t.Context(), s, drop)
		want := strings.TrimPrefix(match[0], "-- ") + " is missing"
		if strings.HasPrefix(name+table, "mailhost_") || strings.HasSuffix(table, "mailhost_schema") || table == "mailhost_migrations" { // read first
			want = name
		}
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "after %s: %v, want %q", drop, err, want)
		if err == nil || kind == "table" || kind == "column" {
			continue
		}
		assert.Check(t, postgres.Check(t.Context(), s, drop+"; "+repairIn(err)), "after the repair of %s", drop)
	}
}

// repairIn returns the statements that an error recommends.
func repairIn(err error) string {
	_, rest, _ := strings.Cut(err.Error(), "run in the database `")
	statements, _, _ := strings.Cut(rest, "`")
	return statements
}

// TestChangedObjects checks that changes of the schema that change the program's reads and writes are refused, and that
// others are not.
func TestChangedObjects(t *testing.T) {
	t.Parallel()
	s := openAsAdministrator(t)
	const evil = `CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; `
	const newer = `UPDATE mailhost_schema SET version = version + 1; INSERT INTO mailhost_migrations VALUES (6, 'newer')`
	for statements, want := range map[string]string{
		newer + `; DROP TRIGGER authorizations_changed ON authorizations`:                                                                                      "the trigger authorizations_changed of the table authorizations is missing",
		newer + `; CREATE OR REPLACE TRIGGER accounts_changed AFTER INSERT OR UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION change_authorization_version()`: "the trigger accounts_changed of the table accounts is missing",
		newer + `; DROP TABLE server`:                          "the table server is missing",
		newer + `; DELETE FROM server`:                         "the row of the table server is missing",
		`UPDATE mailhost_schema SET version = version + 1`:     "it is marked as schema version 6, but its list of migrations has 5",
		`UPDATE mailhost_schema SET version = 0`:               "it is marked as schema version 0, but its list of migrations has 5",
		`TRUNCATE mailhost_schema`:                             "INSERT INTO mailhost_schema VALUES (1, 5, 3)",
		`SET LOCAL search_path = ''`:                           "names no schema",
		`DELETE FROM authorization_version`:                    "the row of the table authorization_version is missing",
		`ALTER FUNCTION change_authorization_version() STABLE`: "the function change_authorization_version was changed",
		`ALTER FUNCTION change_authorization_version() STRICT`: "the function change_authorization_version was changed",
		`CREATE SCHEMA e; CREATE TABLE e.p (LIKE token_buckets) PARTITION BY LIST (full_at); ALTER TABLE e.p ATTACH PARTITION token_buckets DEFAULT`: "the table token_buckets is a partition of e.p",
		`ALTER TABLE authorizations DISABLE TRIGGER USER`:                                                "the trigger authorizations_changed of the table authorizations is disabled",
		`ALTER TABLE accounts ENABLE REPLICA TRIGGER accounts_changed`:                                   "the trigger accounts_changed of the table accounts is disabled",
		`ALTER TABLE mailboxes DISABLE TRIGGER ALL`:                                                      "the foreign key mailboxes_account_id_domain_id_fkey is disabled in the table mailboxes",
		`SET LOCAL session_replication_role = replica`:                                                   "the setting session_replication_role is replica",
		`ALTER TABLE accounts ENABLE ROW LEVEL SECURITY`:                                                 "the table accounts is under row level security",
		`ALTER TABLE mailbox_counts SET UNLOGGED`:                                                        "the table mailbox_counts is unlogged",
		`CREATE POLICY own ON accounts USING (true)`:                                                     "the policy own of the table accounts is not this program's",
		`CREATE RULE own AS ON DELETE TO authorizations DO INSTEAD NOTHING`:                              "the rule own of the table authorizations is not this program's",
		evil + `CREATE TRIGGER own BEFORE UPDATE ON authorizations FOR EACH ROW EXECUTE FUNCTION evil()`: "the trigger own of the table authorizations is not this program's",
		evil + `CREATE OR REPLACE TRIGGER accounts_changed AFTER INSERT OR UPDATE OR DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION evil()`:       "the trigger accounts_changed of the table accounts was changed",
		`CREATE OR REPLACE FUNCTION change_authorization_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`:                    "the function change_authorization_version was changed",
		`ALTER FUNCTION change_authorization_version SET search_path = pg_catalog`:                                                                  "the function change_authorization_version was changed",
		`CREATE UNIQUE INDEX own ON authorizations (revoked_at)`:                                                                                    "the index own of the table authorizations is not this program's",
		`CREATE INDEX own ON mailboxes (first_name)`:                                                                                                "the index own of the table mailboxes is not this program's",
		`DROP INDEX domains_of_purchase; CREATE INDEX domains_of_purchase ON domains (purchase_batch_id) WHERE purchase_batch_id <> ') WITH (a=b)'`: "the index domains_of_purchase of the table domains was changed",
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'domains_in_order'::regclass`:                                                    "the index domains_in_order of the table domains is invalid",
		`CREATE UNIQUE INDEX own ON mailboxes (id, first_name); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'own'::regclass`:          "the index own of the table mailboxes is not this program's",
		`ALTER TABLE authorizations ADD CHECK (revoked_at = 0)`:                                                                                     "the constraint authorizations_revoked_at_check of the table authorizations is not this program's",
		`ALTER TABLE accounts ADD UNIQUE (status)`:                                                                                                  "the constraint accounts_status_key of the table accounts is not this program's",
		`CREATE SCHEMA other; CREATE TABLE other.t (account TEXT REFERENCES accounts (id))`:                                                         "the constraint t_account_fkey of the table other.t is not this program's",
		`CREATE SCHEMA other; CREATE TABLE other.t () INHERITS (authorizations)`:                                                                    "the inheritance by other.t of the table authorizations is not this program's",
		`ALTER TABLE service_accounts ALTER COLUMN revoked_at DROP NOT NULL`:                                                                        "the column revoked_at of the table service_accounts was changed",
		`ALTER TABLE service_accounts ALTER COLUMN revoked_at SET DEFAULT 0`:                                                                        "the column revoked_at of the table service_accounts was changed",
		`ALTER TABLE mailboxes ALTER COLUMN first_name TYPE TEXT COLLATE "POSIX"`:                                                                   "the column first_name of the table mailboxes was changed",
		`ALTER TABLE mailboxes ALTER COLUMN local_part TYPE VARCHAR(10) COLLATE "C"`:                                                                "the column local_part of the table mailboxes was changed",
		`ALTER TABLE accounts ADD COLUMN own TEXT GENERATED ALWAYS AS (id) STORED`:                                                                  "the column own of the table accounts is not this program's",
		`ALTER TABLE audit_entries ALTER COLUMN id SET INCREMENT -1`:                                                                                "the column id of the table audit_entries was changed",
		`ALTER TABLE mailboxes DROP CONSTRAINT mailboxes_account_id_domain_id_fkey, ADD CONSTRAINT mailboxes_account_id_domain_id_fkey FOREIGN KEY (account_id, domain_id) REFERENCES domains (account_id, id) ON DELETE CASCADE`: "the constraint mailboxes_account_id_domain_id_fkey of the table mailboxes was changed",
		`CREATE TABLE own (id INTEGER PRIMARY KEY)`:                                               "the table own is not this program's; if",
		`CREATE VIEW own AS SELECT 1`:                                                             "the view own is not this program's",
		`CREATE MATERIALIZED VIEW own AS SELECT 1`:                                                "the materialized view own is not this program's",
		`DELETE FROM mailhost_migrations`:                                                         "another build",
		`INSERT INTO mailhost_migrations VALUES (99, 'x')`:                                        "its list of migrations has",
		`` + newer + `; ALTER TABLE accounts DISABLE TRIGGER USER; CREATE TABLE own (id INTEGER)`: "makes: the trigger accounts_changed of the table accounts is disabled; to",
		`` + newer + `; CREATE RULE own AS ON DELETE TO authorizations DO INSTEAD NOTHING`:        "the rule own of the table authorizations is not this program's",
		`DROP TABLE mailhost_schema`:                                                              "the table mailhost_schema is missing",
	} {
		err := postgres.Check(t.Context(), s, statements)
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "after %s: %v, want %q", statements, err, want)
	}
	for _, c := range []struct{ statements, want string }{
		{`ALTER INDEX accounts_pkey RENAME TO own`, "ALTER TABLE accounts RENAME CONSTRAINT own TO accounts_pkey"},
		{`ALTER INDEX domains_in_order RENAME TO "O n"`, `ALTER INDEX "O n" RENAME TO domains_in_order`},
		{`ALTER TRIGGER accounts_changed ON accounts RENAME TO own`, "ALTER TRIGGER own ON accounts RENAME TO accounts_changed"},
		{`ALTER TABLE domains RENAME TO d`, "ALTER TABLE d RENAME TO domains"},
		{`ALTER TABLE server RENAME TO server2`, "ALTER TABLE server2 RENAME TO server"},
		{`ALTER TABLE authorization_version RENAME TO own`, "ALTER TABLE own RENAME TO authorization_version"},
		{`ALTER TABLE accounts ALTER status DROP NOT NULL, ALTER status SET DEFAULT 'x'`, "ALTER TABLE accounts ALTER COLUMN status SET NOT NULL, ALTER COLUMN status DROP DEFAULT"},
		{`ALTER TABLE service_accounts ALTER created_by_id SET DEFAULT 'x'`, "ALTER TABLE service_accounts ALTER COLUMN created_by_id SET DEFAULT ''::text"},
		{`ALTER TABLE service_accounts ALTER created_by_id DROP DEFAULT`, "ALTER TABLE service_accounts ALTER COLUMN created_by_id SET DEFAULT ''::text"},
		{`CREATE SCHEMA e; CREATE TABLE e.p (LIKE token_buckets) PARTITION BY LIST (full_at); ALTER TABLE e.p ATTACH PARTITION token_buckets DEFAULT`, "ALTER TABLE e.p DETACH PARTITION token_buckets"},
		{`ALTER SCHEMA public RENAME TO mh; SET LOCAL search_path = mh; DROP INDEX domains_in_order`, "SET search_path TO mh; CREATE INDEX"},
		{`UPDATE mailhost_schema SET version = 4`, ""},
	} {
		err := postgres.Check(t.Context(), s, c.statements)
		assert.Assert(t, err != nil && strings.HasPrefix(repairIn(err), c.want), "after %s: %v, want %q", c.statements, err, c.want)
		assert.Check(t, postgres.Check(t.Context(), s, c.statements+"; "+repairIn(err)), "after the repair of %s", c.statements)
	}
	for _, statements := range []string{
		newer, newer + `; DROP INDEX domains_in_order; ALTER TABLE accounts DROP CONSTRAINT accounts_pkey CASCADE; DROP TRIGGER accounts_changed ON accounts; CREATE TRIGGER own AFTER INSERT OR UPDATE OR DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION change_authorization_version()`,
		`ANALYZE`, `CLUSTER mailboxes USING mailboxes_in_order`, `REINDEX TABLE mailboxes`,
		`ALTER TABLE mailboxes SET (fillfactor = 70, autovacuum_enabled = false); ALTER INDEX mailboxes_in_order SET (fillfactor = 70, deduplicate_items = off); ALTER INDEX domains_unpaid SET (fillfactor = 70)`,
		`CREATE STATISTICS own ON domain_id, account_id FROM mailboxes; ALTER TABLE mailboxes ALTER COLUMN domain_id SET STATISTICS 1000, ALTER COLUMN domain_id SET STORAGE external`,
		`COMMENT ON TABLE mailboxes IS 'x'; COMMENT ON INDEX mailboxes_in_order IS 'x'; COMMENT ON TRIGGER accounts_changed ON accounts IS 'x'`,
		`CREATE ROLE reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; ALTER TABLE mailboxes OWNER TO reader`,
		`CREATE PUBLICATION own FOR ALL TABLES; ALTER TABLE mailboxes REPLICA IDENTITY FULL`,
		`CREATE SCHEMA other; CREATE TABLE other.own (id INTEGER); CREATE VIEW other.mailboxes AS SELECT * FROM mailboxes`,
		`CREATE FUNCTION own() RETURNS INTEGER LANGUAGE sql AS 'SELECT 1'; CREATE SEQUENCE own; CREATE TYPE mood AS ENUM ('ok')`,
		`CREATE TABLE own (id INTEGER); INSERT INTO pg_depend SELECT 'pg_class'::regclass, 'own'::regclass, 0, 'pg_extension'::regclass, oid, 0, 'e' FROM pg_extension`,
		`ALTER TABLE accounts ENABLE ALWAYS TRIGGER accounts_changed`,
		`ALTER SEQUENCE audit_entries_id_seq RESTART 1000`,
		`CREATE SCHEMA other; CREATE TABLE other.own (id TEXT COLLATE "C"); ALTER TABLE accounts INHERIT other.own`,
		// REINDEX CONCURRENTLY leaves such indexes when it is interrupted.
		`CREATE UNIQUE INDEX accounts_pkey_ccnew ON accounts (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'accounts_pkey_ccnew'::regclass`,
		`CREATE INDEX domains_unpaid_ccnew ON domains (account_id, created_at) WHERE state_status = 'pending_payment'; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'domains_unpaid_ccnew'::regclass`,
	} {
		assert.Check(t, postgres.Check(t.Context(), s, statements), statements)
	}
}

// TestWithoutTriggers checks that a change of authority fails in a database with disabled triggers.
func TestWithoutTriggers(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	storetest.WithoutTriggers(t, openAt(t, url, postgres.Options{}), func() {
		execute(t, url, `ALTER TABLE accounts DISABLE TRIGGER USER; ALTER TABLE service_accounts DISABLE TRIGGER USER; ALTER TABLE authorizations DISABLE TRIGGER USER`)
	})
}

// TestSettings checks that settings of the database change no result of the check, except for those that make the store
// unusable, which the error names with the statement that resets them.
func TestSettings(t *testing.T) {
	t.Parallel()
	url := strings.Replace(postgrestest.EmptyURL(t), "//mailhost@", "//postgres@", 1)
	name := url[strings.LastIndex(url, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	openAt(t, url, postgres.Options{})
	open := func() error {
		s, err := postgres.Open(t.Context(), url, postgres.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		return errors.Join(s.Ping(t.Context()), s.Close())
	}
	for _, setting := range []string{"quote_all_identifiers = on", "standard_conforming_strings = off", "transform_null_equals = on", "bytea_output = escape", "datestyle = German", "row_security = off"} {
		execute(t, url, "ALTER DATABASE "+name+" SET "+setting)
		assert.Check(t, open(), setting)
	}
	execute(t, url, "ALTER DATABASE "+name+" RESET ALL")
	for setting, want := range map[string]string{"session_replication_role": "replica", "default_transaction_read_only": "on"} {
		for _, target := range []string{"ALTER DATABASE " + name, "ALTER ROLE postgres IN DATABASE " + name} {
			execute(t, url, target+" SET "+setting+" = "+want)
			err := open()
			assert.Check(t, err != nil && strings.Contains(repairIn(err), target+" RESET "+setting), "%s: %v", target, err)
			execute(t, url, repairIn(err))
			assert.Check(t, open(), setting)
		}
	}
}
