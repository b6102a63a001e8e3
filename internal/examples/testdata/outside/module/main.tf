terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

resource "mailhost_mailbox" "jane" {
  domain     = "example.com"
  local_part = "jane"
  first_name = "Jane"
  last_name  = "Doe"
}
