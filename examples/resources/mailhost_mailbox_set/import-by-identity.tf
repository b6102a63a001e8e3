import {
  to = mailhost_mailbox_set.staff
  identity = {
    id = "2c7d9e4f-1b3a-4c58-8d60-7e9f1a2b3c4d"
  }
}
