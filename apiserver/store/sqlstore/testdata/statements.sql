-- The statements of Get, Create, Update and Delete of each kind, when each query returns a row.
-- … stands for the columns of Get. Written by go test ./apiserver/store/sqlstore -update

-- Get Account
SELECT t.id, t.status, t.plan_id, t.cancels_at, t.next_plan_id, t.plan_changes_at, t.created_at, t.updated_at
  FROM accounts t
  WHERE t.id = $1;

-- Get Workspace
SELECT t.id, t.account_id, t.name, t.created_at, t.updated_at
  FROM workspaces t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get Feedback
SELECT t.id, t.account_id, t.title, t.description, t.category, t.status, t.attributes, t.paid_product_feature, t.submitter_email, t.submitter_name, t.created_by_user_id, t.admin_notes, t.created_at, t.updated_at
  FROM feedback t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get Authorization
SELECT t.id, t.account_id, t.grant_kind, t.subject_type, t.subject_id, t.capability_key, t.resource_type, t.resource_id, t.created_by_type, t.created_by_id, t.created_by_name, t.created_at, t.revoked_at
  FROM authorizations t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get DedicatedIPOption
SELECT t.id, t.account_id, t.name, t.type, t.country_code, t.asn, t.addresses, t.created_at, t.updated_at
  FROM dedicated_ip_options t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get DedicatedIP
SELECT t.id, t.account_id, t.option_id, t.name, t.type, t.state_status, t.state_until, t.state_ready_at, t.asn, t.country_code, t.addresses, t.created_at, t.updated_at
  FROM dedicated_ips t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get Domain
SELECT t.id, t.account_id, t.workspace_id, t.name, t.state_status, t.state_until, t.state_ready_at, t.outbound_routing_ready, t.auto_renew, COALESCE(t.dedicated_ip_id, ''), t.redirect_mode, t.redirect_url, t.inbound_tenant, t.tags, t.registrant, t.purchase_batch_id, t.created_at, t.updated_at
  FROM domains t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get DNSRecord
SELECT t.id, t.account_id, t.domain_id, t.name, t.type, t.value, t.ttl, t.priority, t.system_managed, t.created_at, t.updated_at, d.name, d.workspace_id
  FROM dns_records t
  JOIN domains d ON d.id = t.domain_id
  WHERE t.account_id = $1 AND t.id = $2 AND t.replaced = 0;

-- Get Forwarding
SELECT t.id, t.account_id, t.scope_type, t.scope_id, t.target_email, t.enabled, t.internal, t.link_hash, t.sent_at, t.expires_at, t.verified_at, t.created_at, t.updated_at
  FROM forwarding_rules t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get Mailbox
SELECT t.id, t.account_id, t.domain_id, t.local_part, t.first_name, t.last_name, t.state_status, t.state_until, t.state_ready_at, t.quota_allowed, t.quota_used, t.aliases, t.created_at, t.updated_at, d.name, d.workspace_id, w.name
  FROM mailboxes t
  JOIN domains d ON d.id = t.domain_id
  JOIN workspaces w ON w.id = d.workspace_id
  WHERE t.account_id = $1 AND t.id = $2;

-- Get MasterPassword
SELECT t.id, t.account_id, t.name, t.scope_type, t.scope_id, t.secret_hash, t.created_at, t.updated_at
  FROM master_passwords t
  WHERE t.account_id = $1 AND t.id = $2;

-- Get ServiceAccount
SELECT t.id, t.account_id, t.name, t.public_id, t.secret_hash, t.last4, t.created_by_user_id, t.created_by_type, t.created_by_id, t.created_by_name, t.expires_at, t.last_used_at, t.revoked_at, t.revoked_by_user_id, t.created_at, t.updated_at
  FROM service_accounts t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create Account
SELECT version
  FROM authorization_version;
INSERT INTO accounts (id, status, plan_id, cancels_at, next_plan_id, plan_changes_at, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, (SELECT MAX(c.at) FROM (SELECT CAST($7 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM accounts WHERE created_at <= CAST($7 AS BIGINT) + 30000000) c), (SELECT MAX(c.at) FROM (SELECT CAST($7 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM accounts WHERE created_at <= CAST($7 AS BIGINT) + 30000000) c))
  ON CONFLICT DO NOTHING RETURNING created_at;
SELECT version
  FROM authorization_version;

-- Update Account
SELECT …
  FROM accounts t
  WHERE t.id = $1;
SELECT version
  FROM authorization_version;
UPDATE accounts
  SET id = $1, status = $2, plan_id = $3, cancels_at = $4, next_plan_id = $5, plan_changes_at = $6, created_at = $7, updated_at = $8
  WHERE id = $1;
SELECT version
  FROM authorization_version;

-- Delete Account
DELETE FROM service_accounts
  WHERE account_id = $1;
DELETE FROM master_passwords
  WHERE account_id = $1;
DELETE FROM forwarding_rules
  WHERE account_id = $1;
DELETE FROM dedicated_ip_options
  WHERE account_id = $1;
DELETE FROM authorizations
  WHERE account_id = $1;
DELETE FROM feedback
  WHERE account_id = $1;
DELETE FROM workspaces
  WHERE account_id = $1;
SELECT …
  FROM accounts t
  WHERE t.id = $1
  ORDER BY t.created_at, t.id;
SELECT version
  FROM authorization_version;
DELETE FROM accounts AS t
  WHERE t.id = $1;
SELECT version
  FROM authorization_version;

-- Create Workspace
INSERT INTO workspaces (id, account_id, name, created_at, updated_at, folded_name)
  VALUES ($1, $2, $3, (SELECT MAX(c.at) FROM (SELECT CAST($4 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM workspaces WHERE created_at <= CAST($4 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($4 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM workspaces WHERE created_at <= CAST($4 AS BIGINT) + 30000000 AND account_id = $2) c), $5)
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update Workspace
SELECT …
  FROM workspaces t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT t.id
  FROM workspaces t
  WHERE t.account_id = $1 AND t.folded_name = $2 AND t.id <> $3;
UPDATE workspaces
  SET id = $1, account_id = $2, name = $3, created_at = $4, updated_at = $5, folded_name = $6
  WHERE id = $1;

-- Delete Workspace
SELECT …
  FROM workspaces t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM workspaces AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create Feedback
INSERT INTO feedback (id, account_id, title, description, category, status, attributes, paid_product_feature, submitter_email, submitter_name, created_by_user_id, admin_notes, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, (SELECT MAX(c.at) FROM (SELECT CAST($13 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM feedback WHERE created_at <= CAST($13 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($13 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM feedback WHERE created_at <= CAST($13 AS BIGINT) + 30000000 AND account_id = $2) c))
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update Feedback
SELECT …
  FROM feedback t
  WHERE t.account_id = $1 AND t.id = $2;
UPDATE feedback
  SET id = $1, account_id = $2, title = $3, description = $4, category = $5, status = $6, attributes = $7, paid_product_feature = $8, submitter_email = $9, submitter_name = $10, created_by_user_id = $11, admin_notes = $12, created_at = $13, updated_at = $14
  WHERE id = $1;

-- Delete Feedback
SELECT …
  FROM feedback t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM feedback AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create Authorization
SELECT version
  FROM authorization_version;
INSERT INTO authorizations (id, account_id, grant_kind, subject_type, subject_id, capability_key, resource_type, resource_id, created_by_type, created_by_id, created_by_name, created_at, revoked_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, (SELECT MAX(c.at) FROM (SELECT CAST($12 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM authorizations WHERE created_at <= CAST($12 AS BIGINT) + 30000000 AND account_id = $2) c), $13)
  ON CONFLICT DO NOTHING RETURNING created_at;
SELECT version
  FROM authorization_version;

-- Update Authorization
SELECT …
  FROM authorizations t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT version
  FROM authorization_version;
UPDATE authorizations
  SET id = $1, account_id = $2, grant_kind = $3, subject_type = $4, subject_id = $5, capability_key = $6, resource_type = $7, resource_id = $8, created_by_type = $9, created_by_id = $10, created_by_name = $11, created_at = $12, revoked_at = $13
  WHERE id = $1;
SELECT version
  FROM authorization_version;

-- Delete Authorization
SELECT …
  FROM authorizations t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
SELECT version
  FROM authorization_version;
DELETE FROM authorizations AS t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT version
  FROM authorization_version;

-- Create DedicatedIPOption
INSERT INTO dedicated_ip_options (id, account_id, name, type, country_code, asn, addresses, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT MAX(c.at) FROM (SELECT CAST($8 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dedicated_ip_options WHERE created_at <= CAST($8 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($8 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dedicated_ip_options WHERE created_at <= CAST($8 AS BIGINT) + 30000000 AND account_id = $2) c))
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update DedicatedIPOption
SELECT …
  FROM dedicated_ip_options t
  WHERE t.account_id = $1 AND t.id = $2;
UPDATE dedicated_ip_options
  SET id = $1, account_id = $2, name = $3, type = $4, country_code = $5, asn = $6, addresses = $7, created_at = $8, updated_at = $9
  WHERE id = $1;

-- Delete DedicatedIPOption
SELECT …
  FROM dedicated_ip_options t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM dedicated_ip_options AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create DedicatedIP
INSERT INTO dedicated_ips (id, account_id, option_id, name, type, state_status, state_until, state_ready_at, asn, country_code, addresses, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, (SELECT MAX(c.at) FROM (SELECT CAST($12 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dedicated_ips WHERE created_at <= CAST($12 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($12 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dedicated_ips WHERE created_at <= CAST($12 AS BIGINT) + 30000000 AND account_id = $2) c))
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update DedicatedIP
SELECT …
  FROM dedicated_ips t
  WHERE t.account_id = $1 AND t.id = $2;
UPDATE dedicated_ips
  SET id = $1, account_id = $2, option_id = $3, name = $4, type = $5, state_status = $6, state_until = $7, state_ready_at = $8, asn = $9, country_code = $10, addresses = $11, created_at = $12, updated_at = $13
  WHERE id = $1;

-- Delete DedicatedIP
SELECT …
  FROM dedicated_ips t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM dedicated_ips AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create Domain
INSERT INTO domains (id, account_id, workspace_id, name, state_status, state_until, state_ready_at, outbound_routing_ready, auto_renew, dedicated_ip_id, redirect_mode, redirect_url, inbound_tenant, tags, registrant, purchase_batch_id, created_at, updated_at, search_text)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, (SELECT MAX(c.at) FROM (SELECT CAST($17 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM domains WHERE created_at <= CAST($17 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($17 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM domains WHERE created_at <= CAST($17 AS BIGINT) + 30000000 AND account_id = $2) c), $18)
  ON CONFLICT DO NOTHING RETURNING created_at;
DELETE FROM domain_tags
  WHERE domain_id = $1;

-- Update Domain
SELECT …
  FROM domains t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT t.id
  FROM domains t
  WHERE t.name = $1 AND t.id <> $2;
UPDATE domains
  SET id = $1, account_id = $2, workspace_id = $3, name = $4, state_status = $5, state_until = $6, state_ready_at = $7, outbound_routing_ready = $8, auto_renew = $9, dedicated_ip_id = $10, redirect_mode = $11, redirect_url = $12, inbound_tenant = $13, tags = $14, registrant = $15, purchase_batch_id = $16, created_at = $17, updated_at = $18, search_text = $19
  WHERE id = $1;
DELETE FROM domain_tags
  WHERE domain_id = $1;

-- Delete Domain
SELECT …
  FROM domains t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT …
  FROM dns_records t
  JOIN domains d ON d.id = t.domain_id
  WHERE t.account_id = $1 AND t.domain_id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM dns_records AS t
  WHERE t.account_id = $1 AND t.domain_id = $2;
SELECT …
  FROM master_passwords t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3
  ORDER BY t.created_at, t.id;
DELETE FROM master_passwords AS t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3;
SELECT …
  FROM forwarding_rules t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3
  ORDER BY t.created_at, t.id;
DELETE FROM forwarding_rules AS t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3;
SELECT …
  FROM mailboxes t
  JOIN domains d ON d.id = t.domain_id
  JOIN workspaces w ON w.id = d.workspace_id
  WHERE t.account_id = $1 AND t.id IN (SELECT mailbox_id FROM addresses WHERE domain_id = $2) AND t.domain_id <> $3
  ORDER BY t.created_at, t.id;
DELETE FROM addresses
  WHERE domain_id = $1 AND mailbox_id = $2;
UPDATE mailboxes
  SET id = $1, account_id = $2, domain_id = $3, local_part = $4, first_name = $5, last_name = $6, state_status = $7, state_until = $8, state_ready_at = $9, quota_allowed = $10, quota_used = $11, aliases = $12, created_at = $13, updated_at = $14, search_text = $15
  WHERE id = $1;
SELECT …
  FROM forwarding_rules t
  WHERE (t.internal OR t.sent_at <> 0) AND substr(t.target_email, length(rtrim(t.target_email, replace(t.target_email, '@', '')))) = $1;
UPDATE forwarding_rules
  SET id = $1, account_id = $2, scope_type = $3, scope_id = $4, target_email = $5, enabled = $6, internal = $7, link_hash = $8, sent_at = $9, expires_at = $10, verified_at = $11, created_at = $12, updated_at = $13, search_text = $14
  WHERE id = $1;
DELETE FROM domains
  WHERE id = $1;

-- Create DNSRecord
INSERT INTO dns_records (id, account_id, domain_id, name, type, value, ttl, priority, system_managed, created_at, updated_at, purpose)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, (SELECT MAX(c.at) FROM (SELECT CAST($10 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dns_records WHERE created_at <= CAST($10 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($10 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM dns_records WHERE created_at <= CAST($10 AS BIGINT) + 30000000 AND account_id = $2) c), $11)
  ON CONFLICT DO NOTHING RETURNING created_at;
UPDATE dns_records
  SET replaced = CASE WHEN EXISTS ( SELECT 1 FROM dns_records c WHERE c.domain_id = dns_records.domain_id AND c.name = dns_records.name AND c.purpose = dns_records.purpose AND NOT c.system_managed) THEN 1 ELSE 0 END
  WHERE system_managed AND purpose <> '' AND domain_id = $1 AND name = $2;

-- Update DNSRecord
SELECT …
  FROM dns_records t
  JOIN domains d ON d.id = t.domain_id
  WHERE t.account_id = $1 AND t.id = $2 AND t.replaced = 0;
SELECT t.id
  FROM dns_records t
  WHERE t.domain_id = $1 AND t.name = $2 AND t.type = $3 AND t.value = $4 AND COALESCE(t.priority, -1) = $5 AND (t.purpose <> '' AND t.system_managed) = $6 AND t.id <> $7;
UPDATE dns_records
  SET id = $1, account_id = $2, domain_id = $3, name = $4, type = $5, value = $6, ttl = $7, priority = $8, system_managed = $9, created_at = $10, updated_at = $11, purpose = $12
  WHERE id = $1;
UPDATE dns_records
  SET replaced = CASE WHEN EXISTS ( SELECT 1 FROM dns_records c WHERE c.domain_id = dns_records.domain_id AND c.name = dns_records.name AND c.purpose = dns_records.purpose AND NOT c.system_managed) THEN 1 ELSE 0 END
  WHERE system_managed AND purpose <> '' AND domain_id = $1 AND name = $2;

-- Delete DNSRecord
SELECT …
  FROM dns_records t
  JOIN domains d ON d.id = t.domain_id
  WHERE t.account_id = $1 AND t.id = $2 AND t.replaced = 0
  ORDER BY t.created_at, t.id;
DELETE FROM dns_records AS t
  WHERE t.account_id = $1 AND t.id = $2 AND t.replaced = 0;
UPDATE dns_records
  SET replaced = CASE WHEN EXISTS ( SELECT 1 FROM dns_records c WHERE c.domain_id = dns_records.domain_id AND c.name = dns_records.name AND c.purpose = dns_records.purpose AND NOT c.system_managed) THEN 1 ELSE 0 END
  WHERE system_managed AND purpose <> '' AND domain_id = $1 AND name = $2;

-- Create Forwarding
INSERT INTO forwarding_rules (id, account_id, scope_type, scope_id, target_email, enabled, internal, link_hash, sent_at, expires_at, verified_at, created_at, updated_at, search_text)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, (SELECT MAX(c.at) FROM (SELECT CAST($12 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM forwarding_rules WHERE created_at <= CAST($12 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($12 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM forwarding_rules WHERE created_at <= CAST($12 AS BIGINT) + 30000000 AND account_id = $2) c), $13)
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update Forwarding
SELECT …
  FROM forwarding_rules t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT t.id
  FROM forwarding_rules t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3 AND t.target_email = $4 AND t.id <> $5;
UPDATE forwarding_rules
  SET id = $1, account_id = $2, scope_type = $3, scope_id = $4, target_email = $5, enabled = $6, internal = $7, link_hash = $8, sent_at = $9, expires_at = $10, verified_at = $11, created_at = $12, updated_at = $13, search_text = $14
  WHERE id = $1;

-- Delete Forwarding
SELECT …
  FROM forwarding_rules t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM forwarding_rules AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create Mailbox
SELECT t.name, t.workspace_id, w.name, (SELECT COALESCE(MAX(m.created_at), 0) FROM mailboxes m WHERE m.account_id = $1 AND m.created_at <= $2), COALESCE((SELECT m.id FROM mailboxes m WHERE m.id IN (elements of $3) LIMIT 1), ''), e.value, COALESCE((SELECT a.mailbox_id FROM addresses a WHERE a.domain_id = t.id AND a.local_part = e.value), '')
  FROM domains t
  JOIN workspaces w ON w.id = t.workspace_id
  CROSS JOIN (elements of $4) e
  WHERE t.account_id = $5 AND t.id = $6;
INSERT INTO mailboxes (id, account_id, domain_id, local_part, first_name, last_name, state_status, state_until, state_ready_at, quota_allowed, quota_used, aliases, created_at, updated_at, search_text)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);
INSERT INTO addresses (domain_id, local_part, mailbox_id)
  VALUES ($1, $2, $3);
INSERT INTO mailbox_counts (domain_id, mailboxes)
  VALUES ($1, $2)
  ON CONFLICT (domain_id) DO UPDATE
  SET mailboxes = mailbox_counts.mailboxes + excluded.mailboxes;

-- Update Mailbox
SELECT …
  FROM mailboxes t
  JOIN domains d ON d.id = t.domain_id
  JOIN workspaces w ON w.id = d.workspace_id
  WHERE t.account_id = $1 AND t.id = $2;
UPDATE mailboxes
  SET id = $1, account_id = $2, domain_id = $3, local_part = $4, first_name = $5, last_name = $6, state_status = $7, state_until = $8, state_ready_at = $9, quota_allowed = $10, quota_used = $11, aliases = $12, created_at = $13, updated_at = $14, search_text = $15
  WHERE id = $1;

-- Delete Mailbox
SELECT …
  FROM mailboxes t
  JOIN domains d ON d.id = t.domain_id
  JOIN workspaces w ON w.id = d.workspace_id
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM mailboxes AS t
  WHERE t.account_id = $1 AND t.id = $2;
INSERT INTO mailbox_counts (domain_id, mailboxes)
  VALUES ($1, $2)
  ON CONFLICT (domain_id) DO UPDATE
  SET mailboxes = mailbox_counts.mailboxes + excluded.mailboxes;
SELECT …
  FROM forwarding_rules t
  WHERE (t.internal OR t.sent_at <> 0) AND substr(t.target_email, length(rtrim(t.target_email, replace(t.target_email, '@', '')))) = $1;
UPDATE forwarding_rules
  SET id = $1, account_id = $2, scope_type = $3, scope_id = $4, target_email = $5, enabled = $6, internal = $7, link_hash = $8, sent_at = $9, expires_at = $10, verified_at = $11, created_at = $12, updated_at = $13, search_text = $14
  WHERE id = $1;

-- Create MasterPassword
INSERT INTO master_passwords (id, account_id, name, scope_type, scope_id, secret_hash, created_at, updated_at, folded_name)
  VALUES ($1, $2, $3, $4, $5, $6, (SELECT MAX(c.at) FROM (SELECT CAST($7 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM master_passwords WHERE created_at <= CAST($7 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($7 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM master_passwords WHERE created_at <= CAST($7 AS BIGINT) + 30000000 AND account_id = $2) c), $8)
  ON CONFLICT DO NOTHING RETURNING created_at;

-- Update MasterPassword
SELECT …
  FROM master_passwords t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT t.id
  FROM master_passwords t
  WHERE t.account_id = $1 AND t.scope_type = $2 AND t.scope_id = $3 AND t.folded_name = $4 AND t.id <> $5;
UPDATE master_passwords
  SET id = $1, account_id = $2, name = $3, scope_type = $4, scope_id = $5, secret_hash = $6, created_at = $7, updated_at = $8, folded_name = $9
  WHERE id = $1;

-- Delete MasterPassword
SELECT …
  FROM master_passwords t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
DELETE FROM master_passwords AS t
  WHERE t.account_id = $1 AND t.id = $2;

-- Create ServiceAccount
SELECT version
  FROM authorization_version;
INSERT INTO service_accounts (id, account_id, name, public_id, secret_hash, last4, created_by_user_id, created_by_type, created_by_id, created_by_name, expires_at, last_used_at, revoked_at, revoked_by_user_id, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, (SELECT MAX(c.at) FROM (SELECT CAST($15 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM service_accounts WHERE created_at <= CAST($15 AS BIGINT) + 30000000 AND account_id = $2) c), (SELECT MAX(c.at) FROM (SELECT CAST($15 AS BIGINT) AS at UNION ALL SELECT MAX(created_at) + 1 FROM service_accounts WHERE created_at <= CAST($15 AS BIGINT) + 30000000 AND account_id = $2) c))
  ON CONFLICT DO NOTHING RETURNING created_at;
SELECT version
  FROM authorization_version;

-- Update ServiceAccount
SELECT …
  FROM service_accounts t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT t.id
  FROM service_accounts t
  WHERE t.public_id = $1 AND t.id <> $2;
SELECT version
  FROM authorization_version;
UPDATE service_accounts
  SET id = $1, account_id = $2, name = $3, public_id = $4, secret_hash = $5, last4 = $6, created_by_user_id = $7, created_by_type = $8, created_by_id = $9, created_by_name = $10, expires_at = $11, last_used_at = $12, revoked_at = $13, revoked_by_user_id = $14, created_at = $15, updated_at = $16
  WHERE id = $1;
SELECT version
  FROM authorization_version;

-- Delete ServiceAccount
SELECT …
  FROM service_accounts t
  WHERE t.account_id = $1 AND t.id = $2
  ORDER BY t.created_at, t.id;
SELECT version
  FROM authorization_version;
DELETE FROM service_accounts AS t
  WHERE t.account_id = $1 AND t.id = $2;
SELECT version
  FROM authorization_version;
