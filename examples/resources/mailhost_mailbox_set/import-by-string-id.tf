import {
  to = mailhost_mailbox_set.staff
  id = "example.com"
}
