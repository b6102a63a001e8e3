# Lists every mailbox of the account. Run
#   terraform query -generate-config-out=mailboxes.tf
# to write their configuration and import blocks.
list "mailhost_mailbox" "all" {
  provider = mailhost
  limit    = 1000
}

# The active mailboxes of a domain. include_resource adds all attributes to the result.
list "mailhost_mailbox" "active" {
  provider         = mailhost
  include_resource = true

  config {
    domain = "example.com"
    status = "active"
  }
}
