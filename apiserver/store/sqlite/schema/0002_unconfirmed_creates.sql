-- The objects that the runs of a configuration have created and that no later plan has
-- seen in its state. lost: a complete plan did not see it.
CREATE TABLE unconfirmed_creates (
	account_id  TEXT    NOT NULL,
	origin      TEXT    NOT NULL,
	object_type TEXT    NOT NULL,
	object_id   TEXT    NOT NULL,
	run         TEXT    NOT NULL,
	caller      BLOB    NOT NULL, -- a hash
	lost        INTEGER NOT NULL,
	expires_at  INTEGER NOT NULL,
	PRIMARY KEY (account_id, origin, object_type, object_id)
) STRICT, WITHOUT ROWID;
