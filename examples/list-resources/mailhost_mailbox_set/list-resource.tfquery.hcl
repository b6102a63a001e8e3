# Lists each domain as a set of its mailboxes. Run
#   terraform query -generate-config-out=mailboxes.tf
# to write their configuration and import blocks.
list "mailhost_mailbox_set" "all" {
  provider = mailhost
}

# The mailboxes of the domains whose names contain this text.
list "mailhost_mailbox_set" "shops" {
  provider         = mailhost
  include_resource = true

  config {
    search = "shop"
  }
}
