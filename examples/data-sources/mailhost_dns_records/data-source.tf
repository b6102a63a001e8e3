resource "mailhost_domain" "main" {
  name = "example.com"

  contact_info = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
}

# Every record of a domain, including the built-in ones.
data "mailhost_dns_records" "of_domain" {
  domain = mailhost_domain.main.id
}

# The DMARC policies of all domains of the account.
data "mailhost_dns_records" "dmarc" {
  type = "TXT"
  name = "_dmarc"

  depends_on = [mailhost_domain.main]
}

output "zone" {
  description = "The domain's records as lines of a zone file."
  value = [
    for r in data.mailhost_dns_records.of_domain.dns_records :
    join(" ", compact(["${r.fqdn}.", r.ttl, "IN", r.type, r.priority, r.type == "TXT" ? provider::mailhost::txt_value(r.value) : r.value]))
  ]
}

output "dmarc" {
  description = "DMARC policy of each domain."
  value       = { for r in data.mailhost_dns_records.dmarc.dns_records : r.domain_name => r.value }
}
