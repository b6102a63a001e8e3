# From single mailboxes to a set, without touching a mailbox: import the domain into
# the set, and remove the single resources from the state in the same apply. The set
# releases mailboxes of the domain that its map does not have.
import {
  to = mailhost_mailbox_set.staff
  id = "example.com"
}

removed {
  from = mailhost_mailbox.staff

  lifecycle {
    destroy = false
  }
}

resource "mailhost_mailbox_set" "staff" {
  domain = "example.com"
  mailboxes = {
    "jane.doe"    = { first_name = "Jane", last_name = "Doe" }
    "zoe.mueller" = { first_name = "Zoë", last_name = "Müller" }
  }
}
