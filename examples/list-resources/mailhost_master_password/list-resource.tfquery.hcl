# Every master password of the account: terraform query lists them, and with
# -generate-config-out=passwords.tf it writes their configuration and import blocks.
# The configuration has no secrets: those in use stay as they are.
list "mailhost_master_password" "all" {
  provider = mailhost
  limit    = 1000
}

# Those that open every mailbox of the account, with all that the API says of them.
list "mailhost_master_password" "account" {
  provider         = mailhost
  include_resource = true

  config {
    scope_type = "account"
  }
}
