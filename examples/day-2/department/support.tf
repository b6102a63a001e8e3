resource "mailhost_mailbox_set" "support" {
  domain      = mailhost_domain.main.name
  on_existing = "adopt"

  retired = { for p in local.staff : p.local_part => "keep" }

  mailboxes = {
    for p in local.support :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
