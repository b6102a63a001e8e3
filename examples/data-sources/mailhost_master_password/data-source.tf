# The master password is created here so that the example is complete. Usually
# another configuration creates it.
data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_master_password" "migration" {
  name     = "IMAP migration"
  domain   = data.mailhost_domain.main.name
  generate = true
}

# Find it by name and scope: domain or workspace_id, or neither for one of the whole
# account. You can also use only id. The API does not return the secret.
data "mailhost_master_password" "migration" {
  domain = data.mailhost_domain.main.name
  name   = mailhost_master_password.migration.name
}

output "migration_since" {
  description = "When the master password was created, which opens every mailbox of the domain."
  value       = data.mailhost_master_password.migration.created_at
}
