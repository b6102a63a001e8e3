# The master password is created here so that the example is complete. Usually
# another configuration creates it.
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

# Find it by name and scope: domain or workspace_id, or neither for one of the whole
# account. You can also use only id. The API does not return the secret.
data "mailhost_master_password" "migration" {
  domain = mailhost_domain.main.name
  name   = mailhost_master_password.migration.name
}

output "migration_since" {
  description = "When the master password was created, which opens every mailbox of the domain."
  value       = data.mailhost_master_password.migration.created_at
}
