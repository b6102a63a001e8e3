package postgres

// objects is sqlstore.Dialect.Objects. The server writes definitions in the same words in all versions. Constraints NOT NULL are in the columns: versions before 18 don't list
// them. An index of a constraint is in the constraint. A trigger that fires always is enabled too.
const objects = `WITH tables AS (
	SELECT c.*, quote_ident(c.relname) AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
		AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
), indexes AS (
	SELECT i.*, t.relname, quote_ident(c.relname) AS name, d.definition, substring(d.definition FROM ' ON .*') AS content
	FROM tables t JOIN pg_catalog.pg_index i ON i.indrelid = t.oid JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid,
		-- A fill factor changes no result.
		regexp_replace(pg_get_indexdef(i.indexrelid, 0, true), '\) WITH \((\w+=''?\w+''?(, )?)+\)( WHERE |$)', ')\3') d (definition)
), own_indexes AS ( -- without the rest of an interrupted REINDEX CONCURRENTLY, which is invalid and repeats another one
	SELECT i.* FROM indexes i WHERE i.indisvalid OR NOT EXISTS (SELECT FROM indexes v
		WHERE v.indrelid = i.indrelid AND v.indisvalid AND v.indisunique = i.indisunique AND v.content = i.content)
), triggers AS (
	SELECT g.*, t.relname, t.relnamespace, t.name FROM tables t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid
)
SELECT rank, name COLLATE "C", definition, removal, state, CASE
	WHEN rank = 1 AND removal LIKE 'DROP TABLE %' OR rank IN (5, 7) THEN regexp_replace(removal, '^DROP', 'ALTER') || ' RENAME TO '
	WHEN rank IN (3, 4) THEN replace(removal, ' DROP CONSTRAINT ', ' RENAME CONSTRAINT ') || ' TO ' ELSE '' END
FROM (
SELECT 1, CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' WHEN 'f' THEN 'foreign table ' WHEN 'p' THEN 'partitioned table ' ELSE 'table ' END || relname,
	format('CREATE TABLE %s ()', name), format('DROP %s %s', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, name), ''
FROM tables
UNION ALL
SELECT 2, format('column %s of the table %s', a.attname, t.relname),
	format('ALTER TABLE %s ADD COLUMN %I %s', t.name, a.attname, format_type(a.atttypid, a.atttypmod))
		|| CASE WHEN a.attcollation <> y.typcollation THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END
		|| CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
		|| CASE WHEN a.attidentity <> '' THEN format(' GENERATED %s AS IDENTITY (INCREMENT %s MINVALUE %s MAXVALUE %s CACHE %s%s)',
				CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END)
			WHEN a.attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) %s', pg_get_expr(d.adbin, d.adrelid, true), CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
			WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid, true) ELSE '' END,
	format('ALTER TABLE %s DROP COLUMN %I', t.name, a.attname), ''
FROM tables t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
	LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	LEFT JOIN pg_catalog.pg_sequence s ON s.seqrelid = CASE WHEN a.attidentity <> '' THEN pg_get_serial_sequence(t.name, a.attname)::regclass END
UNION ALL
SELECT CASE k.contype WHEN 'f' THEN 4 ELSE 3 END, format('constraint %s of the table %s', k.conname, COALESCE(t.relname, k.conrelid::regclass::text)),
	format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid, true)),
	format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname), ''
FROM pg_catalog.pg_constraint k LEFT JOIN tables t ON t.oid = k.conrelid
WHERE (t.oid IS NOT NULL OR k.confrelid IN (SELECT oid FROM tables)) AND k.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT 5, format('index %s of the table %s', name, relname), definition, 'DROP INDEX ' || name, '' FROM own_indexes
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = indexrelid AND k.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT DISTINCT 6, 'function ' || p.proname, format('CREATE OR REPLACE FUNCTION %I(%s) RETURNS %s LANGUAGE %s%s%s AS $$%s$$', p.proname, pg_get_function_arguments(p.oid),
	pg_get_function_result(p.oid), l.lanname, CASE p.provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE '' END
		|| CASE WHEN p.proisstrict THEN ' STRICT' ELSE '' END || CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' ELSE '' END, COALESCE(' SET ' || array_to_string(p.proconfig, ' SET '), ''), p.prosrc), '', ''
FROM triggers g JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid AND p.pronamespace = g.relnamespace JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE NOT g.tgisinternal
UNION ALL
SELECT 7, format('trigger %s of the table %s', tgname, relname), pg_get_triggerdef(oid, true), format('DROP TRIGGER %I ON %s', tgname, name), '' FROM triggers WHERE NOT tgisinternal
UNION ALL
SELECT 8, format('rule %s of the table %s', r.rulename, t.relname), '', format('DROP RULE %I ON %s', r.rulename, t.name), ''
FROM tables t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid AND t.relkind NOT IN ('v', 'm')
UNION ALL
SELECT 8, format('policy %s of the table %s', p.polname, t.relname), '', format('DROP POLICY %I ON %s', p.polname, t.name), '' FROM tables t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid
UNION ALL
SELECT 8, format('inheritance by %s of the table %s', h.inhrelid::regclass, t.relname), '', format('ALTER TABLE %s NO INHERIT %s', h.inhrelid::regclass, t.name), ''
FROM tables t JOIN pg_catalog.pg_inherits h ON h.inhparent = t.oid
UNION ALL
SELECT 9, format('trigger %s of the table %s', tgname, relname), '', format('ALTER TABLE %s ENABLE TRIGGER %I', name, tgname), 'disabled'
FROM triggers WHERE NOT tgisinternal AND tgenabled NOT IN ('O', 'A')
UNION ALL
SELECT DISTINCT 9, 'foreign key ' || k.conname, '', format('ALTER TABLE %s ENABLE TRIGGER ALL', g.name), 'disabled in the table ' || g.relname
FROM triggers g JOIN pg_catalog.pg_constraint k ON k.oid = g.tgconstraint WHERE g.tgisinternal AND g.tgenabled NOT IN ('O', 'A')
UNION ALL
SELECT 9, 'table ' || relname, '', format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', name), 'under row level security'
FROM tables WHERE relrowsecurity OR relforcerowsecurity
UNION ALL
SELECT 9, 'table ' || t.relname, '', format('ALTER TABLE %s DETACH PARTITION %s', h.inhparent::regclass, t.name), 'a partition of ' || h.inhparent::regclass
FROM tables t JOIN pg_catalog.pg_inherits h ON h.inhrelid = t.oid WHERE t.relispartition
UNION ALL
SELECT 9, 'table ' || relname, '', format('ALTER TABLE %s SET LOGGED', name), 'unlogged' FROM tables WHERE relpersistence <> 'p'
UNION ALL
SELECT 9, format('index %s of the table %s', name, relname), '', 'REINDEX INDEX ' || name, 'invalid' FROM own_indexes WHERE NOT indisvalid
UNION ALL
SELECT 9, 'setting session_replication_role', '', ` + resetSetting + `, 'replica, which disables triggers; its source: ' || source
FROM pg_catalog.pg_settings s WHERE s.name = 'session_replication_role' AND current_setting('session_replication_role') = 'replica'
) o (rank, name, definition, removal, state) ORDER BY 1, 2`

// resetSetting is an expression of the statements that reset the setting s.name of the database and the role, or "".
const resetSetting = `COALESCE((SELECT string_agg(CASE WHEN r.setrole = 0 THEN format('ALTER DATABASE %I RESET ', current_database())
		ELSE 'ALTER ROLE ' || quote_ident(session_user) || CASE WHEN r.setdatabase = 0 THEN ' RESET ' ELSE format(' IN DATABASE %I RESET ', current_database()) END END || s.name, '; ')
	FROM pg_catalog.pg_db_role_setting r WHERE r.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))
		AND r.setrole IN (0, (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = session_user))
		AND EXISTS (SELECT FROM unnest(r.setconfig) c WHERE c LIKE replace(s.name, '_', '\_') || '=%')), '')`
