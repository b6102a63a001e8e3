-- Times are microseconds since 1970, 0 for none. created_at ascends strictly in
-- each account, so (account_id, created_at, id) is the order of every list.
-- folded_name and search_text are forms that Go computes, because engines fold case
-- differently.

CREATE TABLE accounts (
	id              TEXT    NOT NULL PRIMARY KEY,
	status          TEXT    NOT NULL,
	plan_id         TEXT    NOT NULL,
	cancels_at      INTEGER NOT NULL,
	next_plan_id    TEXT    NOT NULL,
	plan_changes_at INTEGER NOT NULL,
	created_at      INTEGER NOT NULL,
	updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX accounts_in_order ON accounts (created_at, id);

CREATE TABLE workspaces (
	id          TEXT    NOT NULL PRIMARY KEY,
	account_id  TEXT    NOT NULL REFERENCES accounts (id),
	name        TEXT    NOT NULL,
	folded_name TEXT    NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	UNIQUE (account_id, id),
	UNIQUE (account_id, folded_name)
) STRICT;
CREATE INDEX workspaces_in_order ON workspaces (account_id, created_at, id);

CREATE TABLE service_accounts (
	id                 TEXT    NOT NULL PRIMARY KEY,
	account_id         TEXT    NOT NULL REFERENCES accounts (id),
	name               TEXT    NOT NULL,
	public_id          TEXT    NOT NULL UNIQUE,
	secret_hash        BLOB    NOT NULL,
	last4              TEXT    NOT NULL,
	created_by_user_id TEXT    NOT NULL,
	expires_at         INTEGER NOT NULL,
	last_used_at       INTEGER NOT NULL,
	revoked_at         INTEGER NOT NULL,
	revoked_by_user_id TEXT    NOT NULL,
	created_at         INTEGER NOT NULL,
	updated_at         INTEGER NOT NULL
) STRICT;
CREATE INDEX service_accounts_in_order ON service_accounts (account_id, created_at, id);

CREATE TABLE authorizations (
	id             TEXT    NOT NULL PRIMARY KEY,
	account_id     TEXT    NOT NULL REFERENCES accounts (id),
	grant_kind     TEXT    NOT NULL,
	subject_type   TEXT    NOT NULL,
	subject_id     TEXT    NOT NULL,
	capability_key TEXT    NOT NULL,
	resource_type  TEXT    NOT NULL,
	resource_id    TEXT    NOT NULL,
	created_at     INTEGER NOT NULL,
	revoked_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX authorizations_in_order ON authorizations (account_id, created_at, id);
CREATE INDEX authorizations_of_subject ON authorizations (account_id, subject_type, subject_id);

-- One row: store.Reader.AuthorizationVersion. It is random, so that a version which was
-- rolled back never comes again. The last use of a service account is the only column
-- below that no authorization depends on.
CREATE TABLE authorization_version (
	id      INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL
) STRICT;
INSERT INTO authorization_version (id, version) VALUES (1, random());
CREATE TRIGGER accounts_inserted AFTER INSERT ON accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER accounts_updated AFTER UPDATE ON accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER accounts_deleted AFTER DELETE ON accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER service_accounts_inserted AFTER INSERT ON service_accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER service_accounts_updated AFTER UPDATE OF id, account_id, name, public_id, secret_hash, last4, created_by_user_id,
	expires_at, revoked_at, revoked_by_user_id, created_at, updated_at
	ON service_accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER service_accounts_deleted AFTER DELETE ON service_accounts BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER authorizations_inserted AFTER INSERT ON authorizations BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER authorizations_updated AFTER UPDATE ON authorizations BEGIN UPDATE authorization_version SET version = random(); END;
CREATE TRIGGER authorizations_deleted AFTER DELETE ON authorizations BEGIN UPDATE authorization_version SET version = random(); END;

CREATE TABLE master_passwords (
	id          TEXT    NOT NULL PRIMARY KEY,
	account_id  TEXT    NOT NULL REFERENCES accounts (id),
	name        TEXT    NOT NULL,
	folded_name TEXT    NOT NULL,
	scope_type  TEXT    NOT NULL,
	scope_id    TEXT    NOT NULL,
	secret_hash TEXT    NOT NULL,
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	UNIQUE (account_id, scope_type, scope_id, folded_name)
) STRICT;
CREATE INDEX master_passwords_in_order ON master_passwords (account_id, created_at, id);

CREATE TABLE forwarding_rules (
	id           TEXT    NOT NULL PRIMARY KEY,
	account_id   TEXT    NOT NULL REFERENCES accounts (id),
	scope_type   TEXT    NOT NULL,
	scope_id     TEXT    NOT NULL,
	target_email TEXT    NOT NULL,
	enabled      INTEGER NOT NULL,
	internal     INTEGER NOT NULL,
	link_hash    BLOB,
	sent_at      INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL,
	verified_at  INTEGER NOT NULL,
	search_text  TEXT    NOT NULL,
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	UNIQUE (account_id, scope_type, scope_id, target_email)
) STRICT;
CREATE INDEX forwarding_rules_in_order ON forwarding_rules (account_id, created_at, id);
CREATE INDEX forwarding_rules_by_link ON forwarding_rules (link_hash) WHERE link_hash IS NOT NULL;
-- A deleted address releases the rules that forward to it.
CREATE INDEX forwarding_rules_by_internal_target ON forwarding_rules (account_id, target_email) WHERE internal;

-- Verification messages that have not been sent. A row holds no link, so that there
-- is no secret in it. due_at is when it can be claimed; claiming it sets that to the
-- end of the lease.
CREATE TABLE mail_queue (
	forwarding_id TEXT    NOT NULL PRIMARY KEY REFERENCES forwarding_rules (id) ON DELETE CASCADE,
	account_id    TEXT    NOT NULL,
	request_id    TEXT    NOT NULL,
	attempts      INTEGER NOT NULL,
	due_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_queue_by_due ON mail_queue (due_at, forwarding_id);

-- Token buckets of limits, for instance of a credential's requests. A full bucket needs
-- no row.
CREATE TABLE token_buckets (
	name    TEXT    NOT NULL PRIMARY KEY,
	full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_buckets_by_time ON token_buckets (full_at);

CREATE TABLE dedicated_ip_options (
	id           TEXT    NOT NULL PRIMARY KEY,
	account_id   TEXT    NOT NULL REFERENCES accounts (id),
	name         TEXT    NOT NULL,
	type         TEXT    NOT NULL,
	country_code TEXT    NOT NULL,
	asn          INTEGER NOT NULL,
	addresses    TEXT    NOT NULL, -- JSON
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	UNIQUE (account_id, id)
) STRICT;
CREATE INDEX dedicated_ip_options_in_order ON dedicated_ip_options (account_id, created_at, id);

CREATE TABLE dedicated_ips (
	id             TEXT    NOT NULL PRIMARY KEY,
	account_id     TEXT    NOT NULL REFERENCES accounts (id),
	option_id      TEXT    NOT NULL,
	name           TEXT    NOT NULL,
	type           TEXT    NOT NULL,
	state_status   TEXT    NOT NULL,
	state_until    TEXT    NOT NULL,
	state_ready_at INTEGER NOT NULL,
	asn            INTEGER NOT NULL,
	country_code   TEXT    NOT NULL,
	addresses      TEXT    NOT NULL, -- JSON
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL,
	UNIQUE (account_id, id),
	FOREIGN KEY (account_id, option_id) REFERENCES dedicated_ip_options (account_id, id)
) STRICT;
CREATE INDEX dedicated_ips_in_order ON dedicated_ips (account_id, created_at, id);

-- An address is claimed once on the whole server.
CREATE TABLE dedicated_ip_claims (
	address         TEXT NOT NULL PRIMARY KEY,
	dedicated_ip_id TEXT NOT NULL REFERENCES dedicated_ips (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX dedicated_ip_claims_of_ip ON dedicated_ip_claims (dedicated_ip_id);

CREATE TABLE domains (
	id                     TEXT    NOT NULL PRIMARY KEY,
	account_id             TEXT    NOT NULL REFERENCES accounts (id),
	workspace_id           TEXT    NOT NULL,
	name                   TEXT    NOT NULL UNIQUE,
	state_status           TEXT    NOT NULL,
	state_until            TEXT    NOT NULL,
	state_ready_at         INTEGER NOT NULL,
	outbound_routing_ready INTEGER NOT NULL,
	auto_renew             INTEGER NOT NULL,
	dedicated_ip_id        TEXT,
	redirect_mode          TEXT    NOT NULL,
	redirect_url           TEXT    NOT NULL,
	inbound_tenant         TEXT    NOT NULL, -- JSON
	tags                   TEXT    NOT NULL, -- JSON
	registrant             BLOB, -- JSON
	purchase_batch_id      TEXT    NOT NULL,
	search_text            TEXT    NOT NULL,
	created_at             INTEGER NOT NULL,
	updated_at             INTEGER NOT NULL,
	UNIQUE (account_id, id),
	FOREIGN KEY (account_id, workspace_id) REFERENCES workspaces (account_id, id),
	FOREIGN KEY (account_id, dedicated_ip_id) REFERENCES dedicated_ips (account_id, id)
) STRICT;
CREATE INDEX domains_in_order ON domains (account_id, created_at, id);
CREATE INDEX domains_of_workspace ON domains (account_id, workspace_id, created_at, id);
CREATE INDEX domains_of_dedicated_ip ON domains (account_id, dedicated_ip_id) WHERE dedicated_ip_id IS NOT NULL;
-- The payment page finds the domains of a purchase.
CREATE INDEX domains_of_purchase ON domains (purchase_batch_id) WHERE purchase_batch_id <> '';
-- A domain that is not paid for in time is left out of everything that is read.
CREATE INDEX domains_unpaid ON domains (account_id, created_at) WHERE state_status = 'pending_payment';

-- The ids and the names of a domain's tags, for filters.
CREATE TABLE domain_tags (
	domain_id TEXT NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
	tag       TEXT NOT NULL,
	PRIMARY KEY (domain_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX domain_tags_by_tag ON domain_tags (tag, domain_id);

CREATE TABLE mailboxes (
	id             TEXT    NOT NULL PRIMARY KEY,
	account_id     TEXT    NOT NULL,
	domain_id      TEXT    NOT NULL,
	local_part     TEXT    NOT NULL,
	first_name     TEXT    NOT NULL,
	last_name      TEXT    NOT NULL,
	state_status   TEXT    NOT NULL,
	state_until    TEXT    NOT NULL,
	state_ready_at INTEGER NOT NULL,
	quota_allowed  INTEGER NOT NULL,
	quota_used     INTEGER NOT NULL,
	aliases        TEXT    NOT NULL, -- JSON
	search_text    TEXT    NOT NULL,
	created_at     INTEGER NOT NULL,
	updated_at     INTEGER NOT NULL,
	FOREIGN KEY (account_id, domain_id) REFERENCES domains (account_id, id)
) STRICT;
CREATE INDEX mailboxes_in_order ON mailboxes (account_id, created_at, id);
CREATE INDEX mailboxes_of_domain ON mailboxes (account_id, domain_id, created_at, id);

-- Primary addresses and aliases are unique together. The mailbox's own row repeats
-- its aliases, for lists.
CREATE TABLE addresses (
	domain_id  TEXT NOT NULL REFERENCES domains (id),
	local_part TEXT NOT NULL,
	mailbox_id TEXT NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
	PRIMARY KEY (domain_id, local_part)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_of_mailbox ON addresses (mailbox_id);

-- Ids are random, so that they reveal nothing of other accounts. replaced hides a
-- system-managed record while the customer has one with its name and purpose.
CREATE TABLE dns_records (
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
-- A customer's record may be identical to a system-managed one that it replaces.
CREATE UNIQUE INDEX dns_records_once ON dns_records (domain_id, name, type, value, COALESCE(priority, -1),
	CASE WHEN purpose = '' THEN 0 ELSE system_managed END);
-- With replaced, so that records are counted in an index alone.
CREATE INDEX dns_records_in_order ON dns_records (account_id, created_at, id, replaced);
CREATE INDEX dns_records_of_domain ON dns_records (account_id, domain_id, created_at, id, replaced);
-- A create reads the other records at its name.
CREATE INDEX dns_records_at_name ON dns_records (account_id, domain_id, name, created_at, id);

CREATE TABLE feedback (
	id                   TEXT    NOT NULL PRIMARY KEY,
	account_id           TEXT    NOT NULL REFERENCES accounts (id),
	title                TEXT    NOT NULL,
	description          TEXT    NOT NULL,
	category             TEXT    NOT NULL,
	status               TEXT    NOT NULL,
	attributes           BLOB, -- JSON
	paid_product_feature INTEGER NOT NULL,
	submitter_email      TEXT    NOT NULL,
	submitter_name       TEXT    NOT NULL,
	created_by_user_id   TEXT    NOT NULL,
	admin_notes          TEXT    NOT NULL,
	created_at           INTEGER NOT NULL,
	updated_at           INTEGER NOT NULL
) STRICT;
CREATE INDEX feedback_in_order ON feedback (account_id, created_at, id);

-- Blocks of long lists, see blocks.go in package sqlstore.
CREATE TABLE list_blocks (
	id         INTEGER NOT NULL PRIMARY KEY,
	list       TEXT    NOT NULL,
	account_id TEXT    NOT NULL,
	first_at   INTEGER NOT NULL,
	last_at    INTEGER NOT NULL,
	row_count  INTEGER NOT NULL,
	size       INTEGER NOT NULL
) STRICT;
CREATE INDEX list_blocks_in_order ON list_blocks (list, account_id, first_at, last_at, row_count, size);
-- The number of rows in all blocks of a list.
CREATE TABLE list_totals (
	list       TEXT    NOT NULL,
	account_id TEXT    NOT NULL,
	row_count  INTEGER NOT NULL,
	PRIMARY KEY (list, account_id)
) STRICT, WITHOUT ROWID;
-- An id is the number of the bucket times 2^48, plus that of the block.
CREATE TABLE list_facets (
	id      INTEGER NOT NULL PRIMARY KEY,
	content BLOB    NOT NULL
) STRICT;

-- Who changed what, and when. It refers to nothing, because it outlives accounts and
-- objects.
CREATE TABLE audit_entries (
	id             INTEGER NOT NULL PRIMARY KEY,
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

-- interrupted_request is set in the record of a create whose response was not
-- delivered, unless its object became known in another way: delivered.
CREATE TABLE idempotency_records (
	key_hash            BLOB    NOT NULL PRIMARY KEY,
	fingerprint         BLOB    NOT NULL,
	response            BLOB    NOT NULL,
	expires_at          INTEGER NOT NULL,
	interrupted_request BLOB,
	interrupted_id      TEXT    NOT NULL,
	delivered           INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_records_by_expiry ON idempotency_records (expires_at);
CREATE INDEX idempotency_records_by_interrupted_request ON idempotency_records (interrupted_request) WHERE interrupted_request IS NOT NULL;
