import {
  to = mailhost_master_password.migration
  id = "example.com/IMAP migration"
}
