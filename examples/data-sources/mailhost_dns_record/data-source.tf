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

# By domain, type and name: here the key with which the domain's mail is signed,
# which is one of the records that a domain comes with.
data "mailhost_dns_record" "dkim" {
  domain = mailhost_domain.main.id
  type   = "TXT"
  name   = "mailhost._domainkey"
}

# With the value where there are several of the type at the name. With id in place
# of all of these: by id.
data "mailhost_dns_record" "first_mx" {
  domain = mailhost_domain.main.id
  type   = "MX"
  name   = "@"
  value  = "mx1.mailhost.example"
}

output "dkim" {
  description = "Record to publish where the domain's DNS is served elsewhere."
  value       = { (data.mailhost_dns_record.dkim.fqdn) = data.mailhost_dns_record.dkim.value }
}

output "first_mx_priority" {
  value = data.mailhost_dns_record.first_mx.priority
}
