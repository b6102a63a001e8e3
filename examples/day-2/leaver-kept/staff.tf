resource "mailhost_mailbox_set" "staff" {
  domain = mailhost_domain.main.name

  # His line in the file is gone, and the mailbox stays. Remove this after the apply.
  retired = { "john.roe" = "keep" }

  mailboxes = {
    for p in csvdecode(file("${path.module}/mailboxes.csv")) :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
