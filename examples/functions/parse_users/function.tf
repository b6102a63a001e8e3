locals {
  # A file as Excel writes it. Usually: file("${path.module}/users.csv")
  users = provider::mailhost::parse_users(<<-CSV
    First Name;Last Name;Email Address;Department
    Jane;Doe;Jane.Doe@example.com;Sales
    Zoë;Müller;zoe@example.com;Support
    CSV
  , "example.com")
}

resource "mailhost_mailbox_set" "staff" {
  domain    = "example.com"
  mailboxes = local.users
}

# "jane.doe", "zoe"
output "local_parts" {
  value = keys(local.users)
}
