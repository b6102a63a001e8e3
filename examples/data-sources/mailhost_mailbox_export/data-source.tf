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

resource "mailhost_mailbox" "jane" {
  domain     = mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}

resource "mailhost_mailbox" "john" {
  domain     = mailhost_domain.main.name
  local_part = "john.doe"
  first_name = "John"
  last_name  = "Doe"
}

# These addresses are known only after the mailboxes were created, so the export
# waits for them.
data "mailhost_mailbox_export" "staff" {
  domain = mailhost_domain.main.name
  mailboxes = [
    mailhost_mailbox.jane.primary_email,
    mailhost_mailbox.john.primary_email,
  ]
}

output "quotas" {
  description = "Quota of each mailbox in bytes."
  value       = { for m in csvdecode(data.mailhost_mailbox_export.staff.csv) : m.primary_email => tonumber(m.quota_allowed) }
}
