import {
  to = mailhost_mailbox.jane
  id = "jane.doe@example.com"
}
