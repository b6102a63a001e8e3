-- Who changed what, and when. It refers to nothing, since it outlives accounts
-- and objects.
CREATE TABLE audit_entries (
	id             INTEGER PRIMARY KEY,
	account_id     TEXT    NOT NULL,
	operation      TEXT    NOT NULL,
	subject_type   TEXT    NOT NULL,
	subject_id     TEXT    NOT NULL,
	subject_name   TEXT    NOT NULL,
	request_id     TEXT    NOT NULL,
	remote_address TEXT    NOT NULL,
	changes        TEXT    NOT NULL, -- JSON
	created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_entries_in_order ON audit_entries (created_at, id);
CREATE INDEX audit_entries_of_account ON audit_entries (account_id, created_at, id);
