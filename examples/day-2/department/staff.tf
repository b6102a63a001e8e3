locals {
  staff   = csvdecode(file("${path.module}/mailboxes.csv"))
  support = csvdecode(file("${path.module}/support.csv"))
}

resource "mailhost_mailbox_set" "staff" {
  domain      = mailhost_domain.main.name
  on_existing = "adopt"

  # A line that moves to the other file hands its mailbox over.
  retired = { for p in local.support : p.local_part => "keep" }

  mailboxes = {
    for p in local.staff :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
