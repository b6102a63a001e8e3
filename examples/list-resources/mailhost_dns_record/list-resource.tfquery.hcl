# Every DNS record of the account that can be managed: terraform query lists them,
# and with -generate-config-out=dns.tf it writes their configuration and import
# blocks.
list "mailhost_dns_record" "all" {
  provider = mailhost
  limit    = 10000
}

# Those that every filter lets through, with all their attributes.
list "mailhost_dns_record" "texts" {
  provider         = mailhost
  include_resource = true

  config {
    domain = "example.com"
    type   = "TXT"
  }
}
