package storetest

// CreatorsMigration is the file of the migration that adds creators.
const CreatorsMigration = "0005_creators.sql"

// BeforeCreators fills a database of the schema before CreatorsMigration, in SQLite's SQL.
// PostgreSQL needs ” for x”.
const BeforeCreators = `
INSERT INTO accounts (id, status, plan_id, cancels_at, next_plan_id, plan_changes_at, created_at, updated_at) VALUES ('a', '', '', 0, '', 0, 0, 0);
INSERT INTO service_accounts (id, account_id, name, public_id, secret_hash, last4, created_by_user_id, expires_at, last_used_at, revoked_at, revoked_by_user_id, created_at, updated_at)
	VALUES ('s1', 'a', 'ci', '1', x'', '', '', 0, 0, 0, '', 1, 1), ('s2', 'a', 'ci', '2', x'', '', '', 0, 0, 0, '', 2, 2);
INSERT INTO authorizations (id, account_id, grant_kind, subject_type, subject_id, capability_key, resource_type, resource_id, created_at, revoked_at)
	VALUES ('g1', 'a', 'account_owner', 'user', 'jane', '', '', '', 1, 0), ('g2', 'a', 'account_owner', 'group', 'g', '', '', '', 2, 0);
INSERT INTO audit_entries (account_id, operation, subject_type, subject_id, subject_name, request_id, remote_address, changes, created_at) VALUES
	('a', 'init-account', 'operator', '', 'root', '', '', '', 1),
	('a', 'create-service-account', 'user', 'workload:apply', 'repository acme/mail', '', '', '[{"action":"created","type":"service_account","id":"s1","name":"ci"},{"action":"created","type":"authorization","id":"g1"}]', 2),
	('a', 'create-feedback', 'user', 'jane', '', '', '', '[{"action":"created","type":"feedback","id":"f","name":"\u0000"}]', 2),
	('a', 'revoke-service-account', 'user', 'jane', '', '', '', '[{"action":"revoked","type":"service_account","id":"s2"}]', 3),
	('b', 'grant-authorization', 'user', 'other', '', '', '', '[{"action":"created","type":"authorization","id":"g2"}]', 4);`

// SelectCreators selects the creators after the migration, which are Creators.
const SelectCreators = `SELECT id || ' by ' || created_by_type || ' ' || created_by_id || ' ' || created_by_name FROM service_accounts UNION ALL
	SELECT id || ' by ' || created_by_type || ' ' || created_by_id || ' ' || created_by_name FROM authorizations ORDER BY 1`

// Creators are the rows of SelectCreators after BeforeCreators and the migration.
var Creators = []string{
	"g1 by user workload:apply repository acme/mail", "g2 by   ", "s1 by user workload:apply repository acme/mail", "s2 by   ",
}
