-- A create that meets an existing object is always a conflict: nothing depends on whether
-- a client has received a response.
DROP INDEX idempotency_records_by_interrupted_request;
ALTER TABLE idempotency_records DROP COLUMN interrupted_request;
ALTER TABLE idempotency_records DROP COLUMN interrupted_id;
ALTER TABLE idempotency_records DROP COLUMN delivered;
DROP TABLE unconfirmed_creates;

-- Lists are counted, filtered and searched with plain indexes. That of a domain's mailboxes
-- has the columns of their status, so that filters count in it.
DROP TABLE list_facets;
DROP TABLE list_totals;
DROP TABLE list_blocks;
DROP INDEX mailboxes_of_domain;
CREATE INDEX mailboxes_of_domain ON mailboxes (account_id, domain_id, created_at, id, state_ready_at, state_until, state_status);
-- SQLite prefers the later of two indexes that select equally well, and a search reads the rows.
DROP INDEX mailboxes_in_order;
CREATE INDEX mailboxes_in_order ON mailboxes (account_id, created_at, id);

-- A deleted address releases the rules of every account that forward to it, and a deleted domain
-- those to all addresses in it. The first column is "@" and the domain.
DROP INDEX forwarding_rules_by_internal_target;
CREATE INDEX forwarding_rules_by_confirmed_target ON forwarding_rules (substr(target_email, length(rtrim(target_email, replace(target_email, '@', '')))), target_email)
	WHERE internal OR verified_at <> 0;

-- How many mailboxes a domain has, so that a list need not count them.
CREATE TABLE mailbox_counts (
	domain_id TEXT    NOT NULL PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
	mailboxes INTEGER NOT NULL
) STRICT;
INSERT INTO mailbox_counts (domain_id, mailboxes) SELECT domain_id, COUNT(*) FROM mailboxes GROUP BY domain_id;

-- One row: store.ServerWriter.
CREATE TABLE server (
	id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	public_url TEXT NOT NULL
) STRICT;
INSERT INTO server (id, public_url) VALUES (1, '');
