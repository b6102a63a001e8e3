resource "mailhost_mailbox_set" "staff" {
  domain = mailhost_domain.main.name

  # Remove this after the apply.
  retired = { "jane.doe" = "delete" }

  mailboxes = {
    for p in csvdecode(file("${path.module}/mailboxes.csv")) :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
