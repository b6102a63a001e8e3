# Lists every DNS record of the account except the system-managed ones. Run
#   terraform query -generate-config-out=dns.tf
# to write their configuration and import blocks.
list "mailhost_dns_record" "all" {
  provider = mailhost
  limit    = 10000
}

# Filters combine with AND. include_resource adds all attributes to the result.
list "mailhost_dns_record" "texts" {
  provider         = mailhost
  include_resource = true

  config {
    domain = "example.com"
    type   = "TXT"
  }
}
