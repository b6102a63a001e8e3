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

resource "mailhost_mailbox" "office" {
  domain     = mailhost_domain.main.name
  local_part = "office"
  first_name = "Front"
  last_name  = "Office"
}

# A mailbox of the account receives mail at once.
resource "mailhost_forwarding" "office" {
  domain       = mailhost_domain.main.name
  target_email = mailhost_mailbox.office.primary_email
}

# Any other recipient first has to open the link in a message and confirm.
# verification_state shows the progress.
resource "mailhost_forwarding" "archive" {
  domain       = mailhost_domain.main.name
  target_email = "archive@compliance.example"
}
