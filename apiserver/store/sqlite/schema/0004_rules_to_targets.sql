-- A deleted address also releases the rules whose recipient has a link and has not confirmed yet.
-- The first column is "@" and the domain.
DROP INDEX forwarding_rules_by_confirmed_target;
CREATE INDEX forwarding_rules_by_target ON forwarding_rules (substr(target_email, length(rtrim(target_email, replace(target_email, '@', '')))), target_email)
	WHERE internal OR sent_at <> 0;
