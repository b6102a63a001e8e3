data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_mailbox" "jane" {
  domain     = data.mailhost_domain.main.name
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
