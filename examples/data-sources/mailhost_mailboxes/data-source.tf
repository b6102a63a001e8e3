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

# The active mailboxes of a domain. The reference delays the read until the mailbox
# above exists.
data "mailhost_mailboxes" "active" {
  domain = mailhost_mailbox.jane.domain_id
  status = "active"
}

# Every mailbox of the account whose address or name contains this text.
data "mailhost_mailboxes" "does" {
  search = mailhost_mailbox.jane.last_name
}

output "addresses" {
  value = data.mailhost_mailboxes.active.mailboxes[*].primary_email
}
