# What an unattended apply must not do. policy.sh evaluates data.mail.deny on
# "terraform show -json"; with conftest, use --namespace mail.
package mail

# What is paid for and can't be had again: a domain's name may go to somebody else, and a
# dedicated IP takes its reputation with it.
paid_for := {"mailhost_domain", "mailhost_dedicated_ip"}

deny contains sprintf("%s: the plan destroys what is paid for. Review it, and apply it by hand.", [r.address]) if {
	some r in input.resource_changes
	r.type in paid_for
	"delete" in r.change.actions
}

deny contains sprintf("%s: value is stored in the state and in saved plans. Use value_wo.", [r.address]) if {
	some r in written
	r.type == "mailhost_master_password"
	is_string(r.change.after.value)
}

deny contains sprintf("%s: with p=none, forged mail is delivered. Use p=quarantine or p=reject.", [r.address]) if {
	some r in written
	some value in dmarc_values(r)
	regex.match(`(?i);\s*p\s*=\s*none\b`, value)
}

# Resources that the apply creates, changes or replaces.
written contains r if {
	some r in input.resource_changes
	some action in r.change.actions
	action in {"create", "update"}
}

dmarc_values(r) := [r.change.after.value] if {
	r.type == "mailhost_dns_record"
	is_dmarc(r.change.after.name, r.change.after.type)
}

dmarc_values(r) := [value |
	some key, record in r.change.after.records
	[name, type] := split(key, " ")
	is_dmarc(name, type)
	some value in record.values
] if {
	r.type == "mailhost_dns_zone"
}

is_dmarc(name, type) if {
	upper(type) == "TXT"
	regex.match(`(?i)^_dmarc(\.|$)`, name)
}
