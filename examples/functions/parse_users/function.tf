locals {
  # A file as Excel writes it. Usually: file("${path.module}/users.csv"), in the call
  # itself, because the CLI prints a local value that the call refers to if a row is invalid.
  users = provider::mailhost::parse_users(<<-CSV
    First Name;Last Name;Email Address;Department
    Jane;Doe;Jane.Doe@example.com;Sales
    Zoë;Müller;zoe@example.com;Support
    CSV
  , "example.com")
}

# The value is that of mailboxes in a mailhost_mailbox_set:
#
# {
#   "jane.doe" = { first_name = "Jane", last_name = "Doe" }
#   "zoe"      = { first_name = "Zoë", last_name = "Müller" }
# }
output "users" {
  value = local.users
}
