# Every dedicated IP of the account: terraform query lists them, and with
# -generate-config-out=addresses.tf it writes their configuration and import blocks.
list "mailhost_dedicated_ip" "all" {
  provider = mailhost
}

# Those that every filter lets through, with all their attributes.
list "mailhost_dedicated_ip" "german" {
  provider         = mailhost
  include_resource = true

  config {
    country_code = "DE"
    status       = "active"
  }
}
