# The rule is created here so that the example stands alone; as a rule another
# configuration has created it.
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

# By its target within its scope: a domain here, workspace_id for one of a workspace,
# neither for one of the whole account. Or by id alone.
data "mailhost_forwarding" "archive" {
  domain       = mailhost_domain.main.name
  target_email = mailhost_forwarding.archive.target_email
}

check "archive_confirmed" {
  assert {
    condition     = contains(["internal", "verified"], data.mailhost_forwarding.archive.verification_state)
    error_message = "The archive has not confirmed yet, so that no mail is forwarded to it; it has until ${coalesce(data.mailhost_forwarding.archive.verification_expires_at, "now")}."
  }
}
