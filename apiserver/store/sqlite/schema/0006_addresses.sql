-- Primary addresses and aliases are unique together. The mailbox's own row keeps
-- its aliases too, for lists.
CREATE TABLE addresses (
	domain_id  TEXT NOT NULL REFERENCES domains (id),
	local_part TEXT NOT NULL,
	mailbox_id TEXT NOT NULL,
	PRIMARY KEY (domain_id, local_part)
) STRICT, WITHOUT ROWID;

INSERT INTO addresses (domain_id, local_part, mailbox_id) SELECT domain_id, local_part, id FROM mailboxes;

-- An alias that is a mailbox's address or an older mailbox's alias, or that lies
-- outside of the account's domains, was never an address of its own: it goes.
CREATE TEMP TABLE old_aliases AS
	SELECT m.id AS mailbox_id, m.created_at, e.value AS alias, e.key AS position, d.id AS domain_id,
		substr(e.value ->> 'alias', 1, instr(e.value ->> 'alias', '@') - 1) AS local_part
	FROM mailboxes m
	JOIN json_each(CASE m.aliases WHEN '' THEN '[]' ELSE m.aliases END) e
	JOIN domains d ON d.account_id = m.account_id AND d.name = substr(e.value ->> 'alias', instr(e.value ->> 'alias', '@') + 1);
DELETE FROM old_aliases WHERE EXISTS (
	SELECT 1 FROM addresses a WHERE a.domain_id = old_aliases.domain_id AND a.local_part = old_aliases.local_part);
INSERT INTO addresses (domain_id, local_part, mailbox_id)
	SELECT domain_id, local_part, mailbox_id FROM old_aliases WHERE true ORDER BY created_at, mailbox_id, position
	ON CONFLICT DO NOTHING;

-- The unique constraint of the local part moves to the new table.
CREATE TABLE mailboxes_without_constraint (
	id            TEXT    NOT NULL PRIMARY KEY,
	account_id    TEXT    NOT NULL,
	domain_id     TEXT    NOT NULL,
	local_part    TEXT    NOT NULL,
	first_name    TEXT    NOT NULL,
	last_name     TEXT    NOT NULL,
	status        TEXT    NOT NULL,
	status_until  TEXT    NOT NULL,
	ready_at      INTEGER NOT NULL,
	quota_allowed INTEGER NOT NULL,
	quota_used    INTEGER NOT NULL,
	aliases       TEXT    NOT NULL, -- JSON
	search_text   TEXT    NOT NULL,
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL,
	FOREIGN KEY (account_id, domain_id) REFERENCES domains (account_id, id)
) STRICT;
INSERT INTO mailboxes_without_constraint (id, account_id, domain_id, local_part, first_name, last_name, status, status_until,
		ready_at, quota_allowed, quota_used, aliases, search_text, created_at, updated_at)
	SELECT id, account_id, domain_id, local_part, first_name, last_name, status, status_until, ready_at, quota_allowed, quota_used,
		CASE aliases WHEN '' THEN '' ELSE (
			SELECT CASE count(*) WHEN 0 THEN '' ELSE json_group_array(json(o.alias) ORDER BY o.position) END
			FROM old_aliases o JOIN addresses a ON a.domain_id = o.domain_id AND a.local_part = o.local_part AND a.mailbox_id = o.mailbox_id
			WHERE o.mailbox_id = mailboxes.id) END,
		search_text, created_at, updated_at
	FROM mailboxes;
DROP TABLE mailboxes;
DROP TABLE old_aliases;
ALTER TABLE mailboxes_without_constraint RENAME TO mailboxes;
CREATE INDEX mailboxes_in_order ON mailboxes (account_id, created_at, id);
CREATE INDEX mailboxes_of_domain ON mailboxes (account_id, domain_id, created_at, id);

-- A deleted address releases the rules that forward to it.
CREATE INDEX forwarding_rules_by_internal_target ON forwarding_rules (account_id, target_email) WHERE internal;
