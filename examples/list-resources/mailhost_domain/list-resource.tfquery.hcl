# Every domain of the account: terraform query lists them, and with
# -generate-config-out=domains.tf it writes their configuration and import blocks.
list "mailhost_domain" "all" {
  provider = mailhost
}

# Those that every filter lets through, with all their attributes.
list "mailhost_domain" "shops" {
  provider         = mailhost
  include_resource = true
  limit            = 1000

  config {
    search = "shop"
    status = "active"
  }
}
