package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	neturl "net/url"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

//go:embed schema/*.sql schema/*.txt
var schema embed.FS

// compatibleWith is the schema version of the oldest program that works with the current schema, so
// that replicas can be upgraded one by one. A migration that only adds does not change it.
const compatibleWith = 3

var dialect = sqlstore.Dialect{
	Migrations:    schema,
	SchemaVersion: schemaVersion,
	Mark: func(version int) string {
		return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS mailhost_schema (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, compatible_with INTEGER NOT NULL); `+
			`INSERT INTO mailhost_schema VALUES (1, %d, %d) ON CONFLICT (id) DO UPDATE SET version = excluded.version, compatible_with = excluded.compatible_with`,
			version, min(version, compatibleWith))
	},
	Objects:    objects,
	Own:        schema,
	Prelude:    `SELECT format('SET search_path TO %I', current_schema()) WHERE current_schema() <> 'public'`,
	Elements:   `SELECT value FROM jsonb_array_elements_text(%s::text::jsonb)`,
	SkipLocked: ` FOR UPDATE SKIP LOCKED`,
	Columns: `SELECT c.relname::text, a.attname::text, a.atttypid = 'bool'::regtype, a.attnotnull, COALESCE(a.attnum = ANY (i.indkey), false)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum`,
	// Others can read meanwhile. The transaction may be idle for as long as the caller wants.
	Freeze:      `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE %s IN SHARE MODE`,
	ContinueIDs: `SELECT setval(pg_get_serial_sequence('audit_entries', 'id'), (SELECT COALESCE(MAX(id), 0) + 1 FROM audit_entries), false)`,
}

// schemaVersion refuses another program's schema.
func schemaVersion(ctx context.Context, q sqlstore.Querier) (version, compatible int, err error) {
	var versioned, listed bool
	var tables int
	var elsewhere, searchPath string
	if err := sqlstore.ScanRow(ctx, q, `SELECT to_regclass('mailhost_schema') IS NOT NULL, to_regclass('mailhost_migrations') IS NOT NULL,
		(SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = ANY (string_to_array('accounts,mailboxes,domains', ','))),
		COALESCE((SELECT quote_ident(n.nspname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE c.oid = to_regclass('mailhost_migrations') AND n.nspname <> current_schema()), ''),
		CASE WHEN current_schema() IS NULL AND COALESCE((SELECT has_schema_privilege(oid, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = 'public'), false) THEN quote_literal(current_setting('search_path')) ELSE '' END`,
		nil, &versioned, &listed, &tables, &elsewhere, &searchPath); err != nil {
		return 0, 0, err
	}
	switch {
	case searchPath != "":
		return 0, 0, fmt.Errorf("the setting search_path, %s, names no schema that the user may use; add search_path=public, or the schema of the tables, to the URL", searchPath)
	case elsewhere != "":
		return 0, 0, fmt.Errorf("the program's tables are in the schema %s, but another schema comes first in search_path; add search_path=%s to the URL", elsewhere, neturl.PathEscape(elsewhere))
	case versioned:
		err = sqlstore.ScanRow(ctx, q, `SELECT version, compatible_with FROM mailhost_schema`, nil, &version, &compatible)
		if errors.Is(err, store.ErrNotFound) {
			err = nil // a version 0 beside a list of migrations is reported later
		}
	case listed: // an object is missing, which is reported later
		err = sqlstore.ScanRow(ctx, q, `SELECT COUNT(*) FROM mailhost_migrations`, nil, &version)
		compatible = version
	case tables > 0:
		err = errOtherProgram
	}
	return version, compatible, err
}
