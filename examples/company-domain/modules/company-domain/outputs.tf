output "domain_id" {
  description = "UUID of the domain."
  value       = mailhost_domain.this.id
}

output "status" {
  description = "Status of the domain: active once its mail works."
  value       = mailhost_domain.this.status
}

output "mailboxes" {
  description = "UUID of each mailbox by address."
  value       = { for local_part, id in mailhost_mailbox_set.this.ids : mailhost_mailbox_set.this.addresses[local_part] => id }
}

output "unconfirmed_forwarding" {
  description = "Recipients who receive no mail yet, because they have not opened the link in their message."
  value       = [for rule in mailhost_forwarding.this : rule.target_email if !contains(["internal", "verified"], rule.verification_state)]
}

output "dns_records" {
  description = "Full name of each record that the module adds, by purpose."
  value       = { for purpose, record in mailhost_dns_record.this : purpose => "${record.fqdn} ${record.type}" }
}

output "mta_sts_policy" {
  description = "The policy, and the URL at which mta_sts.policy_host has to serve it as text/plain; null without mta_sts."
  value = var.mta_sts == null ? null : {
    url  = "https://mta-sts.${local.domain}/.well-known/mta-sts.txt"
    text = local.mta_sts_policy
  }
}
