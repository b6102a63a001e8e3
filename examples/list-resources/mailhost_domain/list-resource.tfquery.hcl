# Lists every domain of the account. Run
#   terraform query -generate-config-out=domains.tf
# to write their configuration and import blocks.
list "mailhost_domain" "all" {
  provider = mailhost
}

# Filters combine with AND. include_resource adds all attributes to the result.
list "mailhost_domain" "shops" {
  provider         = mailhost
  include_resource = true
  limit            = 1000

  config {
    search = "shop"
    status = "active"
  }
}
