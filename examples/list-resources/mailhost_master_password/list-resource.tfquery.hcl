# Lists every master password of the account. Run
#   terraform query -generate-config-out=passwords.tf
# to write their configuration and import blocks.
# The generated configuration has no secrets; the current ones stay in use.
list "mailhost_master_password" "all" {
  provider = mailhost
  limit    = 1000
}

# Master passwords that open every mailbox of the account. include_resource adds all
# attributes to the result.
list "mailhost_master_password" "account" {
  provider         = mailhost
  include_resource = true

  config {
    scope_type = "account"
  }
}
