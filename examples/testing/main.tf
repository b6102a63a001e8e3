# The module under test: a team's mailboxes on a domain, with a copy of the mail sent
# to an archive.
resource "mailhost_domain" "this" {
  name         = var.domain
  contact_info = var.contact_info
  auto_renew   = true
  on_existing  = "adopt"
}

resource "mailhost_mailbox" "this" {
  for_each = var.members

  domain     = mailhost_domain.this.name
  local_part = each.key
  first_name = each.value.first_name
  last_name  = each.value.last_name
}

resource "mailhost_forwarding" "archive" {
  count = var.archive == null ? 0 : 1

  domain       = mailhost_domain.this.name
  target_email = var.archive

  depends_on = [mailhost_mailbox.this]
}
