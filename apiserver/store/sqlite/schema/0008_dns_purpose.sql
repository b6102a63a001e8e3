-- The ids of DNS records are random, so that they reveal nothing of other accounts;
-- those that exist stay. A customer's record replaces the system-managed ones with
-- its name and purpose: they are hidden while it exists. Go fills in the purposes.
CREATE TABLE new_dns_records (
	id             INTEGER NOT NULL PRIMARY KEY,
	account_id     TEXT    NOT NULL,
	domain_id      TEXT    NOT NULL,
	name           TEXT    NOT NULL,
	type           TEXT    NOT NULL,
	value          TEXT    NOT NULL,
	ttl            INTEGER NOT NULL,
	priority       INTEGER,
	system_managed INTEGER NOT NULL,
	purpose        TEXT    NOT NULL,
	replaced       INTEGER NOT NULL DEFAULT 0,
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL,
	FOREIGN KEY (account_id, domain_id) REFERENCES domains (account_id, id) ON DELETE CASCADE
) STRICT;
INSERT INTO new_dns_records (id, account_id, domain_id, name, type, value, ttl, priority, system_managed, purpose,
		created_at, updated_at)
	SELECT id, account_id, domain_id, name, type, value, ttl, priority, system_managed, '', created_at, updated_at
	FROM dns_records;
DROP TABLE dns_records;
ALTER TABLE new_dns_records RENAME TO dns_records;
-- A customer's record may be identical to a system-managed one that it replaces.
CREATE UNIQUE INDEX dns_records_once ON dns_records (domain_id, name, type, value, COALESCE(priority, -1),
	CASE WHEN purpose = '' THEN 0 ELSE system_managed END);
CREATE INDEX dns_records_in_order ON dns_records (account_id, created_at, id);
CREATE INDEX dns_records_of_domain ON dns_records (account_id, domain_id, created_at, id);
