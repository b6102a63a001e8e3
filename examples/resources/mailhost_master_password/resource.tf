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

# The API generates the secret and returns it once. It is stored in the state.
resource "mailhost_master_password" "migration" {
  name     = "IMAP migration"
  domain   = mailhost_domain.main.name
  generate = true
}

output "migration_password" {
  description = "Opens every mailbox of the domain."
  value       = mailhost_master_password.migration.generated_secret
  sensitive   = true
}
