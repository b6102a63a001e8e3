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

# Master passwords that open every mailbox of the account.
data "mailhost_master_passwords" "account" {
  scope_type = "account"
}

# Master passwords of a domain. Filters combine with AND.
data "mailhost_master_passwords" "migrations" {
  domain     = data.mailhost_domain.main.name
  search     = "migration"
  depends_on = [mailhost_master_password.migration]
}

output "too_powerful" {
  description = "Names of the master passwords to restrict to a domain."
  value       = data.mailhost_master_passwords.account.master_passwords[*].name
}

output "to_be_deleted" {
  description = "When each migration's master password was created."
  value       = { for p in data.mailhost_master_passwords.migrations.master_passwords : p.name => p.created_at }
}
