# A server that your team runs with "mailhostd serve". The token comes from
# MAILHOST_TOKEN; you can also set MAILHOST_BASE_URL and MAILHOST_ACCOUNT_ID.
provider "mailhost" {
  base_url   = "http://127.0.0.1:8080"
  account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
}
