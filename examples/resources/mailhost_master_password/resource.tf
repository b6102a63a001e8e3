data "mailhost_domain" "main" {
  name = "example.com"
}

# The API generates the secret and returns it once. It is stored in the state.
resource "mailhost_master_password" "migration" {
  name     = "IMAP migration"
  domain   = data.mailhost_domain.main.name
  generate = true
}

output "migration_password" {
  description = "Opens every mailbox of the domain."
  value       = mailhost_master_password.migration.generated_secret
  sensitive   = true
}
