data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_mailbox" "jane" {
  domain     = data.mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}

# By address. Usually another configuration manages the mailbox; then write
# "jane.doe@example.com".
data "mailhost_mailbox" "by_address" {
  primary_email = mailhost_mailbox.jane.primary_email
}

# By id.
data "mailhost_mailbox" "by_id" {
  id = mailhost_mailbox.jane.id
}

output "name" {
  value = "${data.mailhost_mailbox.by_address.first_name} ${data.mailhost_mailbox.by_address.last_name}"
}
