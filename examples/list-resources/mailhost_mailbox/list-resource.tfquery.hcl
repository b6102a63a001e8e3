# Every mailbox of the account: terraform query lists them, and with
# -generate-config-out=mailboxes.tf it writes their configuration and import
# blocks.
list "mailhost_mailbox" "all" {
  provider = mailhost
  limit    = 1000
}

# The active ones of a domain, with all that the API says of them.
list "mailhost_mailbox" "active" {
  provider         = mailhost
  include_resource = true

  config {
    domain = "example.com"
    status = "active"
  }
}
