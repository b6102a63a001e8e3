-- An address is claimed once on the whole server. Where two accounts have claimed
-- one before, both keep it: the later claims are duplicates, and the address is not
-- free while any of them exists.
CREATE TABLE new_claims (
	address         TEXT    NOT NULL,
	duplicate       INTEGER NOT NULL DEFAULT 0,
	dedicated_ip_id TEXT    NOT NULL REFERENCES dedicated_ips (id) ON DELETE CASCADE,
	PRIMARY KEY (address, duplicate)
) STRICT, WITHOUT ROWID;
INSERT INTO new_claims (address, duplicate, dedicated_ip_id)
	SELECT c.address, ROW_NUMBER() OVER (PARTITION BY c.address ORDER BY d.created_at, d.id) - 1, d.id
	FROM dedicated_ip_claims c JOIN dedicated_ips d ON d.id = c.dedicated_ip_id;
DROP TABLE dedicated_ip_claims;
ALTER TABLE new_claims RENAME TO dedicated_ip_claims;
CREATE INDEX dedicated_ip_claims_of_ip ON dedicated_ip_claims (dedicated_ip_id);
