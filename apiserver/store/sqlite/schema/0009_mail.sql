-- Verification messages that have not been sent yet. A row holds no link, so that
-- there is no secret in it. due_at is when it can be claimed next: claiming it
-- sets that to the end of the lease.
CREATE TABLE mail_queue (
	forwarding_id TEXT    NOT NULL PRIMARY KEY REFERENCES forwarding_rules (id) ON DELETE CASCADE,
	account_id    TEXT    NOT NULL,
	request_id    TEXT    NOT NULL,
	attempts      INTEGER NOT NULL,
	due_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_queue_by_due ON mail_queue (due_at, forwarding_id);

-- Token buckets of verification messages, by recipient and by account. A full
-- bucket has no row.
CREATE TABLE message_limits (
	bucket  TEXT    NOT NULL PRIMARY KEY,
	full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX message_limits_by_time ON message_limits (full_at);
