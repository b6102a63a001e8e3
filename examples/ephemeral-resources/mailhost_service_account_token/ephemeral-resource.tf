# A token for this run only. It is revoked when the run ends.
ephemeral "mailhost_service_account_token" "run" {
  name     = "nightly-run"
  lifetime = "30m"
}

# Modules and resources with provider = mailhost.run use the token, and the audit log
# shows their changes under its name. MAILHOST_BASE_URL and MAILHOST_ACCOUNT_ID set the
# API and the account.
provider "mailhost" {
  alias = "run"
  token = ephemeral.mailhost_service_account_token.run.token
}
