# The same API as a server that a team runs: mailhostd serve. Where it is and
# which account is meant can come from the environment just as well, as the token
# does here: MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID, MAILHOST_TOKEN.
provider "mailhost" {
  base_url   = "http://127.0.0.1:8080"
  account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
}
