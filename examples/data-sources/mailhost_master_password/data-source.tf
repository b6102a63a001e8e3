# The master password is created here so that the example stands alone; as a rule
# another configuration has created it.
resource "mailhost_domain" "main" {
  name = "example.com"

  contact_info = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
}

resource "mailhost_master_password" "migration" {
  name     = "IMAP migration"
  domain   = mailhost_domain.main.name
  generate = true
}

# By its name within its scope: a domain here, workspace_id for one of a workspace,
# neither for one of the whole account. Or by id alone. Its secret is not told.
data "mailhost_master_password" "migration" {
  domain = mailhost_domain.main.name
  name   = mailhost_master_password.migration.name
}

output "migration_since" {
  description = "Since when the master password opens every mailbox of the domain."
  value       = data.mailhost_master_password.migration.created_at
}
