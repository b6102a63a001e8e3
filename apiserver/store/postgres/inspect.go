package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// Inspection describes what a database server permits the user of a URL, as far as a store needs it.
type Inspection struct {
	// Lacking describes the missing privileges, and Grant is the SQL statement that grants them. Both are "" if
	// none is missing.
	Lacking, Grant string
	// Schema is the version of the schema, 0 if there is none, and Oldest that of the oldest program which works with it.
	Schema, Oldest int
	// Pooler means that the URL leads to a pooler, whose settings limit the connections; the fields below are 0.
	Pooler bool
	// Connections is the number of connections that all servers together may open, and Limit names the limit.
	Connections int
	Limit       string
	// Servers is the number of addresses with sessions of servers or commands on the database, including this one.
	Servers int
	// InUse means that another process is connected to the database.
	InUse bool
}

// inspection reads an Inspection's facts; $1 lists the tables. PostgreSQL before version 16 has no reserved_connections.
const inspection = `SELECT pg_backend_pid()::bigint, current_user::text, COALESCE(current_schema()::text, ''), current_setting('search_path'),
	to_regclass('mailhost_schema') IS NOT NULL, COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false),
	COALESCE((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_catalog.pg_class WHERE oid = ANY (tables)
		AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
		OR oid IN (to_regclass('authorization_version'), to_regclass('server')) AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'UPDATE'))), ''),
	COALESCE(has_table_privilege(to_regclass('mailhost_schema'), 'SELECT'), true) AND COALESCE(has_table_privilege(to_regclass('mailhost_migrations'), 'SELECT'), true),
	COALESCE((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_catalog.pg_class WHERE oid = ANY (tables) AND NOT pg_has_role(relowner, 'USAGE')), ''),
	role.rolsuper, role.rolconnlimit, (SELECT datconnlimit FROM pg_catalog.pg_database WHERE datname = current_database()),
	current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int + COALESCE(current_setting('reserved_connections', true)::int, 0),
	others.addresses, others.sessions > 1
FROM (SELECT array(SELECT to_regclass(value)::oid FROM unnest(string_to_array($1, ',')) value) AS tables) named,
	(SELECT rolsuper, rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = session_user) role,
	(SELECT count(DISTINCT COALESCE(host(client_addr), '')) AS addresses, count(*) AS sessions FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND usename = session_user AND application_name = current_setting('application_name')) others`

// OwnSchema returns the version of the schema that this program makes, which is the same for both engines.
func OwnSchema() int {
	migrations, _ := fs.Glob(schema, "schema/*.sql") // the pattern is valid
	return len(migrations)
}

// Inspect connects to the database of a postgres:// URL and changes nothing there.
func Inspect(ctx context.Context, url string) (i Inspection, err error) {
	config, err := poolConfig(url, Options{Connections: 1})
	if err != nil {
		return i, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return i, openError(unavailable(err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var (
		pid                                                       uint32
		user, schemaName, searchPath, forbidden, unowned          string
		exists, mayCreate, mayReadVersion, superuser              bool
		roleLimit, databaseLimit, maxConnections, reserved, shown int
	)
	if err := conn.QueryRow(ctx, inspection, pgx.QueryExecModeExec, strings.Join(sqlstore.Tables(), ",")).Scan(&pid, &user, &schemaName, &searchPath,
		&exists, &mayCreate, &forbidden, &mayReadVersion, &unowned,
		&superuser, &roleLimit, &databaseLimit, &maxConnections, &reserved, &shown, &i.InUse); err != nil {
		return i, fmt.Errorf("PostgreSQL: %w", err)
	}
	role, in := pgx.Identifier{user}.Sanitize(), pgx.Identifier{schemaName}.Sanitize()
	if exists && mayReadVersion {
		if err := conn.QueryRow(ctx, `SELECT version, compatible_with FROM mailhost_schema`, pgx.QueryExecModeExec).Scan(&i.Schema, &i.Oldest); err != nil {
			return i, fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	switch {
	case schemaName == "":
		i.Lacking = fmt.Sprintf("may use no schema of the search path %s", searchPath)
		i.Grant = "GRANT USAGE, CREATE ON SCHEMA public TO " + role
	case !exists && !mayCreate:
		i.Lacking = fmt.Sprintf("may not create tables in the schema %s", schemaName)
		i.Grant = fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO %s", in, role)
	case exists && (forbidden != "" || !mayReadVersion):
		i.Lacking = "may not read and write all tables"
		if forbidden != "" {
			i.Lacking = fmt.Sprintf("may not read and write the tables %s", forbidden)
		}
		i.Grant = fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s", in, role)
	case exists && i.Schema < OwnSchema() && (unowned != "" || !mayCreate):
		i.Lacking = "does not own the tables, whose schema this version of mailhostd must upgrade"
		i.Grant = fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO %s, and ALTER TABLE … OWNER TO %s for each table", in, role, role)
	}
	if i.Pooler = pid != conn.PgConn().PID(); i.Pooler {
		return i, nil
	}
	i.Servers = shown
	i.Connections, i.Limit = maxConnections, "max_connections"
	if superuser { // no other limit counts
		return i, nil
	}
	if reserved > 0 {
		i.Connections -= reserved
		i.Limit = fmt.Sprintf("max_connections, %d without the %d that are reserved", maxConnections, reserved)
	}
	if 0 <= roleLimit && roleLimit < i.Connections {
		i.Connections, i.Limit = roleLimit, "the CONNECTION LIMIT of the role "+user
	}
	if 0 <= databaseLimit && databaseLimit < i.Connections {
		i.Connections, i.Limit = databaseLimit, "the CONNECTION LIMIT of the database"
	}
	return i, nil
}
