# Every service account that is not revoked: terraform query lists them, and with
# -generate-config-out=service_accounts.tf it writes their configuration and import
# blocks. Their tokens stay unknown.
list "mailhost_service_account" "all" {
  provider = mailhost
}
