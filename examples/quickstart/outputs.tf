output "account_id" {
  description = "Id of the account."
  value       = data.mailhost_account.this.id
}

output "domains" {
  description = "Status of each domain."
  value       = { for name, domain in mailhost_domain.this : name => domain.status }
}

output "mailboxes" {
  description = "Number of mailboxes in each domain."
  value       = { for name in keys(var.domains) : name => length([for row in values(local.mailboxes) : row if row.domain == name]) }
}

output "forwarding" {
  description = "Recipient of each domain's mail, and the state of the recipient's verification."
  value       = { for name, rule in mailhost_forwarding.this : name => "${rule.target_email} (${rule.verification_state})" }
}

output "outbound_ips" {
  description = "Addresses that send outgoing mail."
  value       = [for address in mailhost_dedicated_ip.outbound.ip_addresses : address.ip]
}

output "migration_password" {
  description = "Opens every mailbox of the workspace during the migration. Destroy it afterwards."
  value       = mailhost_master_password.migration.generated_secret
  sensitive   = true
}

output "ci_token" {
  description = "Bearer token of the CI service account."
  value       = mailhost_service_account.ci.token
  sensitive   = true
}
