# Back to single mailboxes: remove the set from the state, and import each mailbox.
removed {
  from = mailhost_mailbox_set.staff

  lifecycle {
    destroy = false
  }
}

import {
  to = mailhost_mailbox.jane
  id = "jane.doe@example.com"
}

resource "mailhost_mailbox" "jane" {
  domain     = "example.com"
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}
