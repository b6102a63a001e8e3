-- Who created a service account or a grant, for the existing ones from the audit log; empty if
-- that is unknown. No authorization depends on it, so that the version does not move here.
ALTER TABLE service_accounts ADD COLUMN created_by_type TEXT NOT NULL DEFAULT '';
ALTER TABLE service_accounts ADD COLUMN created_by_id TEXT NOT NULL DEFAULT '';
ALTER TABLE service_accounts ADD COLUMN created_by_name TEXT NOT NULL DEFAULT '';
ALTER TABLE authorizations ADD COLUMN created_by_type TEXT NOT NULL DEFAULT '';
ALTER TABLE authorizations ADD COLUMN created_by_id TEXT NOT NULL DEFAULT '';
ALTER TABLE authorizations ADD COLUMN created_by_name TEXT NOT NULL DEFAULT '';
CREATE TABLE creators (
	account_id TEXT NOT NULL,
	type TEXT NOT NULL,
	id TEXT NOT NULL,
	subject_type TEXT NOT NULL,
	subject_id TEXT NOT NULL,
	subject_name TEXT NOT NULL,
	PRIMARY KEY (type, id)
) STRICT;
INSERT INTO creators (account_id, type, id, subject_type, subject_id, subject_name)
	SELECT e.account_id, j.value ->> 'type', j.value ->> 'id', e.subject_type, e.subject_id, e.subject_name
	FROM audit_entries e, json_each(CASE WHEN e.changes LIKE '%"type":"service_account"%' OR e.changes LIKE '%"type":"authorization"%' THEN e.changes ELSE '[]' END) j
	WHERE j.value ->> 'action' = 'created' AND j.value ->> 'type' IN ('service_account', 'authorization') ON CONFLICT DO NOTHING;
DROP TRIGGER service_accounts_updated;
DROP TRIGGER authorizations_updated;
UPDATE service_accounts SET created_by_type = c.subject_type, created_by_id = c.subject_id, created_by_name = c.subject_name
	FROM creators c WHERE c.type = 'service_account' AND c.id = service_accounts.id AND c.account_id = service_accounts.account_id;
UPDATE authorizations SET created_by_type = c.subject_type, created_by_id = c.subject_id, created_by_name = c.subject_name
	FROM creators c WHERE c.type = 'authorization' AND c.id = authorizations.id AND c.account_id = authorizations.account_id;
CREATE TRIGGER service_accounts_updated AFTER UPDATE OF id, account_id, name, public_id, secret_hash, last4, created_by_user_id,
	expires_at, revoked_at, revoked_by_user_id, created_at, updated_at, created_by_type, created_by_id, created_by_name
	ON service_accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER authorizations_updated AFTER UPDATE ON authorizations BEGIN UPDATE authorization_version SET version = random(); END;
DROP TABLE creators;

-- What the token of a workload says of its job.
ALTER TABLE audit_entries ADD COLUMN subject_details TEXT NOT NULL DEFAULT ''; -- JSON
