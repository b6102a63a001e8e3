import {
  to = mailhost_mailbox.john
  id = "john.roe@example.com"
}

resource "mailhost_mailbox" "john" {
  domain     = mailhost_domain.main.name
  local_part = "john.roe"
  first_name = "John"
  last_name  = "Roe"

  lifecycle {
    prevent_destroy = true
  }
}
