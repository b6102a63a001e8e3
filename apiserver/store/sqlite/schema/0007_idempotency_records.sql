-- Only responses that changed something are replayed. Rows of earlier versions may
-- hold refusals, and can't be told apart because they are encrypted.
DROP TABLE idempotent_answers;
CREATE TABLE idempotency_records (
	key_hash    BLOB    NOT NULL PRIMARY KEY,
	fingerprint BLOB    NOT NULL,
	response    BLOB    NOT NULL,
	expires_at  INTEGER NOT NULL,
	delivered   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX idempotency_records_by_expiry ON idempotency_records (expires_at);
