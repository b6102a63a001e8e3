# A token for this run alone: it is revoked when the run ends.
ephemeral "mailhost_service_account_token" "run" {
  name     = "nightly-run"
  lifetime = "30m"
}

# What the modules and resources with provider = mailhost.run do, the account's
# list of service accounts and its audit log tell by that name. The URL of the API
# and the account come from MAILHOST_BASE_URL and MAILHOST_ACCOUNT_ID.
provider "mailhost" {
  alias = "run"
  token = ephemeral.mailhost_service_account_token.run.token
}
