import {
  to = mailhost_domain.merged
  id = "example.net"
}

resource "mailhost_domain" "merged" {
  name = "example.net"
}

import {
  to = mailhost_mailbox_set.merged
  id = "example.net"
}

resource "mailhost_mailbox_set" "merged" {
  domain = mailhost_domain.merged.name

  mailboxes = {
    for p in csvdecode(file("${path.module}/merged.csv")) :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
