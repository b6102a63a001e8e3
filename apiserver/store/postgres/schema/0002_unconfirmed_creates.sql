-- The objects that the runs of a configuration have created and that no later plan has
-- seen in its state. lost: a complete plan did not see it.
CREATE TABLE unconfirmed_creates (
	account_id  TEXT COLLATE "C" NOT NULL,
	origin      TEXT COLLATE "C" NOT NULL,
	object_type TEXT COLLATE "C" NOT NULL,
	object_id   TEXT COLLATE "C" NOT NULL,
	run         TEXT COLLATE "C" NOT NULL,
	caller      BYTEA            NOT NULL, -- a hash
	lost        BOOLEAN          NOT NULL,
	expires_at  BIGINT           NOT NULL,
	PRIMARY KEY (account_id, origin, object_type, object_id)
);
