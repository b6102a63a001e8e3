data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_mailbox" "office" {
  domain     = data.mailhost_domain.main.name
  local_part = "office"
  first_name = "Front"
  last_name  = "Office"
}

# A mailbox of the account receives mail at once.
resource "mailhost_forwarding" "office" {
  domain       = data.mailhost_domain.main.name
  target_email = mailhost_mailbox.office.primary_email
}

# Any other recipient first has to open the link in a message and confirm.
# verification_state shows the progress.
resource "mailhost_forwarding" "archive" {
  domain       = data.mailhost_domain.main.name
  target_email = "archive@compliance.example"
}
