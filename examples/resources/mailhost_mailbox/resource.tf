data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_mailbox" "jane" {
  domain     = data.mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}
