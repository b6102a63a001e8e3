# The rule is created here so that the example is complete. Usually another
# configuration creates it.
data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_forwarding" "archive" {
  domain       = data.mailhost_domain.main.name
  target_email = "archive@compliance.example"
}

# Find a rule by its target and scope: domain or workspace_id, or neither for a rule
# of the whole account. You can also use only id.
data "mailhost_forwarding" "archive" {
  domain       = data.mailhost_domain.main.name
  target_email = mailhost_forwarding.archive.target_email
}

check "archive_confirmed" {
  assert {
    condition     = contains(["internal", "verified"], data.mailhost_forwarding.archive.verification_state)
    error_message = "The archive has not confirmed yet, so it receives no mail. It has to confirm until ${coalesce(data.mailhost_forwarding.archive.verification_expires_at, "now")}."
  }
}
