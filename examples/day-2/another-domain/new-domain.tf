resource "mailhost_domain" "new" {
  name        = "example.net"
  auto_renew  = true
  on_existing = "adopt"
}

resource "mailhost_mailbox_set" "new" {
  domain = mailhost_domain.new.name

  mailboxes = {
    for p in csvdecode(file("${path.module}/mailboxes.csv")) :
    p.local_part => { first_name = p.first_name, last_name = p.last_name }
  }
}
