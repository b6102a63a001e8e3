output "domain_id" {
  description = "UUID of the domain."
  value       = mailhost_domain.this.id
}

output "status" {
  description = "State of the domain: active once its mail works."
  value       = mailhost_domain.this.status
}

output "mailboxes" {
  description = "UUID of each mailbox, by address."
  value       = { for address, mailbox in mailhost_mailbox.this : address => mailbox.id }
}

output "unconfirmed_forwarding" {
  description = "Recipients who have yet to open the link in their message before they receive mail."
  value       = [for rule in mailhost_forwarding.this : rule.target_email if !contains(["internal", "verified"], rule.verification_state)]
}

output "dns_records" {
  description = "Full name of each record that the module adds, by what it is for."
  value       = { for purpose, record in mailhost_dns_record.this : purpose => "${record.fqdn} ${record.type}" }
}

output "mta_sts_policy" {
  description = "The policy as text/plain, and the URL under which mta_sts.policy_host has to serve it; null without mta_sts."
  value = var.mta_sts == null ? null : {
    url  = "https://mta-sts.${local.domain}/.well-known/mta-sts.txt"
    text = local.mta_sts_policy
  }
}
