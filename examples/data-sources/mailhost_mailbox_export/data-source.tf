data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_mailbox" "jane" {
  domain     = data.mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}

resource "mailhost_mailbox" "john" {
  domain     = data.mailhost_domain.main.name
  local_part = "john.doe"
  first_name = "John"
  last_name  = "Doe"
}

# These addresses are known only after the mailboxes were created, so the export
# waits for them.
data "mailhost_mailbox_export" "staff" {
  domain = data.mailhost_domain.main.name
  mailboxes = [
    mailhost_mailbox.jane.primary_email,
    mailhost_mailbox.john.primary_email,
  ]
}

output "quotas" {
  description = "Quota of each mailbox in bytes."
  value       = { for m in csvdecode(data.mailhost_mailbox_export.staff.csv) : m.primary_email => tonumber(m.quota_allowed) }
}
