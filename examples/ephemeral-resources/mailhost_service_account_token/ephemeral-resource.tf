# A token for this run only. It is revoked when the run ends.
ephemeral "mailhost_service_account_token" "run" {
  name     = "nightly-run"
  lifetime = "30m"
}

# Let all resources of the account use provider = mailhost.run, or none: the provider sees
# conflicts within one provider block only. The audit log shows their changes under the
# token's name. MAILHOST_BASE_URL and MAILHOST_ACCOUNT_ID set the API and the account.
provider "mailhost" {
  alias = "run"
  token = ephemeral.mailhost_service_account_token.run.token
}
