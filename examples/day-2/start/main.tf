terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

# The account of account.json, so that you can try each recipe. Your own account has
# provider "mailhost" {} and the variables MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN.
provider "mailhost" {
  embedded = { fixture = "account.json" }
}

resource "mailhost_domain" "main" {
  name        = "example.com"
  auto_renew  = true
  on_existing = "adopt"
}
