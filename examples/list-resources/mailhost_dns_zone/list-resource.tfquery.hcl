# Lists each domain as a zone with its records. Run
#   terraform query -generate-config-out=zones.tf
# to write their configuration and import blocks.
list "mailhost_dns_zone" "all" {
  provider = mailhost
}

# The zones of the domains whose names contain this text.
list "mailhost_dns_zone" "shops" {
  provider         = mailhost
  include_resource = true

  config {
    search = "shop"
  }
}
