locals {
  # example.com for Example.COM
  domain = provider::mailhost::normalize_domain(var.name)

  # One mailbox for each line, with its local part as the key: the order does not matter.
  mailboxes = { for m in var.mailboxes : lower(m.local_part) => { first_name = m.first_name, last_name = m.last_name } }
}

resource "mailhost_domain" "this" {
  name         = var.name
  contact_info = var.contact_info
  auto_renew   = var.auto_renew
  redirect_url = var.redirect_url

  # Without a registrant nothing can be bought, so the account has to own the domain.
  on_existing = var.contact_info == null ? "adopt" : "error"
}

resource "mailhost_mailbox_set" "this" {
  domain        = mailhost_domain.this.name
  mailboxes     = local.mailboxes
  max_deletions = var.max_mailbox_deletions
}

# A mailbox that somebody made by hand is a warning of each plan.
check "made_by_hand" {
  assert {
    condition     = length(mailhost_mailbox_set.this.unmanaged) == 0
    error_message = "The list does not have ${join(", ", mailhost_mailbox_set.this.unmanaged)}. Add them to it, or delete them."
  }
}

resource "mailhost_forwarding" "this" {
  for_each = var.forwarding

  domain       = mailhost_domain.this.name
  target_email = each.value

  # A mailbox of the account needs no confirmation, but it has to exist first.
  depends_on = [mailhost_mailbox_set.this]

  lifecycle {
    precondition {
      condition = (
        provider::mailhost::parse_address(each.value).domain != local.domain ||
        contains(keys(local.mailboxes), provider::mailhost::parse_address(each.value).local_part)
      )
      error_message = "${each.value} is none of the mailboxes. Add it to them, or forward to an address of another domain."
    }
  }
}

# count depends on the version, because it can't depend on an ephemeral value.
resource "mailhost_master_password" "this" {
  count = var.master_password_version == null ? 0 : 1

  name             = "Administration"
  domain           = mailhost_domain.this.name
  value_wo         = var.master_password
  value_wo_version = var.master_password_version
}
