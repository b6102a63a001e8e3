# What an unattended apply must not do. policy.sh evaluates data.mail.deny on
# "terraform show -json"; with conftest, use --namespace mail --data policy.
#
# allowed.json lists the exceptions: the names of domains and the addresses of dedicated
# IPs in "purchases" and "purchases_again", the addresses of resources in
# "secrets_in_state", addresses of mailboxes in "deleted_mailboxes" and
# "forwarding_targets", and sentences of the plan in "losses".
#
# plan.sh takes data.losses from the plan's warnings, which the JSON of a plan lacks.
package mail

# What is paid for and can't be had again: a domain's name may go to somebody else, and a
# dedicated IP takes its reputation with it.
paid_for := {"mailhost_domain", "mailhost_dedicated_ip"}

deny contains sprintf("%s: the plan destroys what is paid for. Review it, and apply it by hand.", [r.address]) if {
	some r in input.resource_changes
	r.type in paid_for
	"delete" in r.change.actions
}

deny contains sprintf("%s: the apply may buy it. To permit that, add it to purchases in policy/allowed.json.", [r.address]) if {
	some r in input.resource_changes
	r.type in paid_for
	"create" in r.change.actions
	not adopted(r)
	not permitted_purchase(r)
}

deny contains sprintf("%s: it was deleted outside Terraform, so that the apply buys it a second time. To permit that, add it to purchases_again in policy/allowed.json.", [r.address]) if {
	some r in input.resource_changes
	r.type in paid_for
	"create" in r.change.actions
	not adopted(r)
	some d in input.resource_drift
	d.address == r.address
	"delete" in d.change.actions
	not permitted_again(r)
}

deny contains sprintf("%s: with on_existing = \"create\", the apply claims another address also if the account has an unused one. To permit that, add it to purchases_again in policy/allowed.json.", [r.address]) if {
	some r in input.resource_changes
	r.type == "mailhost_dedicated_ip"
	"create" in r.change.actions
	r.change.after.on_existing == "create"
	not permitted_again(r)
}

# A renewal that ends, and mail that goes elsewhere. Other rules judge what is destroyed or forwarded.
deny contains sprintf("%s. To permit that, add this sentence to losses in policy/allowed.json.", [loss.summary]) if {
	some loss in data.losses
	every concern in loss.concerns { concern in {"money", "reach"} }
	not startswith(loss.summary, "The plan forwards ")
	not permitted_loss(loss)
}

deny contains sprintf("%s: value is stored in the state and in saved plans. Use value_wo.", [r.address]) if {
	some r in written
	r.type == "mailhost_master_password"
	set_or_unknown(r, "value")
}

deny contains sprintf("%s: its secret is stored in the state. To permit that, add it to secrets_in_state in policy/allowed.json.", [r.address]) if {
	some r in written
	secret_in_state(r)
	not permitted_secret(r)
}

deny contains sprintf("%s: with p=none, forged mail is delivered. Use p=quarantine or p=reject.", [r.address]) if {
	some r in written
	some value in dmarc_values(r)
	regex.match(`(?i);\s*p\s*=\s*none\b`, joined(value))
}

deny contains sprintf("%s: with t=y, receivers only test the policy, as with p=none. Remove t.", [r.address]) if {
	some r in written
	some value in dmarc_values(r)
	regex.match(`(?i);\s*t\s*=\s*y\b`, joined(value))
}

deny contains sprintf("%s: the plan deletes the mailbox %s with its mail. To permit that, add it to deleted_mailboxes in policy/allowed.json.", [r.address, mailbox]) if {
	some r in input.resource_changes
	some mailbox in deleted_mailboxes(r)
	not permitted_deletion(mailbox)
}

deny contains sprintf("%s: all mail of the account is forwarded to %s. To permit that, add it to forwarding_targets in policy/allowed.json.", [r.address, target]) if {
	some r in written
	r.type == "mailhost_forwarding"
	of_account(r)
	not is_off(r)
	target := object.get(r.change.after, "target_email", "an address that is known after the apply")
	not is_inside(target)
	not permitted_target(target)
}

# The mailboxes that leave a set, but for those that it keeps.
deleted_mailboxes(r) := {mailbox |
	some key, mailbox in r.change.before.addresses
	not is_kept(r, key)
} if {
	r.type == "mailhost_mailbox_set"
	not "forget" in r.change.actions
}

is_kept(r, key) if lower(key) in remaining(r)

is_kept(r, key) if retired(r)[lower(key)] == "keep"

remaining(r) := {lower(key) | some key, _ in object.get(after(r), "mailboxes", {})} if not "delete" in r.change.actions

remaining(r) := set() if "delete" in r.change.actions

# A destroyed set has what the last apply has set.
retired(r) := {lower(key): how | some key, how in object.get(after(r), "retired", {})} if not "delete" in r.change.actions

retired(r) := {lower(key): how | some key, how in r.change.before.retired} if "delete" in r.change.actions

after(r) := {name: value | some name, value in r.change.after; value != null}

is_off(r) if r.change.after.active == false

of_account(r) if {
	not set_or_unknown(r, "domain")
	not set_or_unknown(r, "workspace_id")
}

# An address in a domain of this configuration.
is_inside(target) if {
	some r in input.resource_changes
	r.type == "mailhost_domain"
	endswith(lower(target), concat("", ["@", r.change.after.name]))
}

# Resources that the apply creates, changes or replaces.
written contains r if {
	some r in input.resource_changes
	some action in r.change.actions
	action in {"create", "update"}
}

# An unknown acquisition may turn out to be a purchase.
adopted(r) if r.change.after.acquisition == "adopt"

permitted_purchase(r) if named(r) in data.allowed.purchases

permitted_again(r) if named(r) in data.allowed.purchases_again

named(r) := r.change.after.name if r.type == "mailhost_domain"

named(r) := r.address if r.type == "mailhost_dedicated_ip"

permitted_loss(loss) if loss.summary in data.allowed.losses

permitted_deletion(mailbox) if mailbox in data.allowed.deleted_mailboxes

permitted_target(target) if target in data.allowed.forwarding_targets

permitted_secret(r) if r.address in data.allowed.secrets_in_state

secret_in_state(r) if {
	r.type == "mailhost_master_password"
	r.change.after.generate == true
}

secret_in_state(r) if {
	r.type == "mailhost_master_password"
	r.change.after_unknown.generate == true
}

secret_in_state(r) if {
	r.type == "mailhost_service_account"
	set_or_unknown(r, "token")
}

set_or_unknown(r, name) if is_string(r.change.after[name])

set_or_unknown(r, name) if r.change.after_unknown[name] == true

dmarc_values(r) := [r.change.after.value] if {
	r.type == "mailhost_dns_record"
	is_dmarc(r.change.after.name, r.change.after.type)
}

dmarc_values(r) := [value |
	some key, record in r.change.after.records
	[name, type] := regex.split(`\s+`, trim_space(key))
	is_dmarc(name, type)
	some value in record.values
] if {
	r.type == "mailhost_dns_zone"
}

is_dmarc(name, type) if {
	upper(type) == "TXT"
	regex.match(`(?i)^_dmarc(\.|$)`, name)
}

# joined returns the text of a TXT record, which may consist of several quoted strings.
joined(value) := replace(regex.replace(value, `"\s*"`, ""), `"`, "")
