# Lists every service account that is not revoked. Run
#   terraform query -generate-config-out=service_accounts.tf
# to write their configuration and import blocks.
# Their tokens stay unknown.
list "mailhost_service_account" "all" {
  provider = mailhost
}
