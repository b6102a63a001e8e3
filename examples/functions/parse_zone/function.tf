# The export of another DNS host. Usually: file("${path.module}/example.com.zone")
locals {
  zone = <<-ZONE
    $TTL 14400
    @      86400 IN SOA ns1.host.example. hostmaster 2026112401 3600 1800 1209600 86400
    @      86400 IN NS  ns1.host.example.
    @            IN MX  10 mx1.mail.example.
                 IN TXT "v=spf1 include:_spf.mail.example " "-all"
    www    300   IN A   192.0.2.10
    shop         IN CNAME www
    ZONE
}

# The value is that of records in a mailhost_dns_zone:
#
# {
#   "@ MX"       = { ttl = 14400, values = ["10 mx1.mail.example"] }
#   "@ TXT"      = { ttl = 14400, values = ["v=spf1 include:_spf.mail.example -all"] }
#   "shop CNAME" = { ttl = 14400, values = ["www.example.com"] }
#   "www A"      = { ttl = 300, values = ["192.0.2.10"] }
# }
output "records" {
  value = provider::mailhost::parse_zone(local.zone, "example.com")
}
