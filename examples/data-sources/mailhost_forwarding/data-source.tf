# The rule is created here so that the example is complete. Usually another
# configuration creates it.
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

resource "mailhost_forwarding" "archive" {
  domain       = mailhost_domain.main.name
  target_email = "archive@compliance.example"
}

# Find a rule by its target and scope: domain or workspace_id, or neither for a rule
# of the whole account. You can also use only id.
data "mailhost_forwarding" "archive" {
  domain       = mailhost_domain.main.name
  target_email = mailhost_forwarding.archive.target_email
}

check "archive_confirmed" {
  assert {
    condition     = contains(["internal", "verified"], data.mailhost_forwarding.archive.verification_state)
    error_message = "The archive has not confirmed yet, so it receives no mail. It has to confirm until ${coalesce(data.mailhost_forwarding.archive.verification_expires_at, "now")}."
  }
}
