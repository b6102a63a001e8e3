# The domains are bought here so that the example is complete. Usually other
# configurations buy them.
resource "mailhost_domain" "brand" {
  for_each = toset(["example.com", "example.net"])

  name = each.key

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

data "mailhost_domains" "all" {
  depends_on = [mailhost_domain.brand]
}

# Filters combine with AND.
data "mailhost_domains" "active_brand" {
  search = "example"
  status = "active"

  depends_on = [mailhost_domain.brand]
}

output "expiring" {
  description = "Domains without automatic renewal."
  value       = [for d in data.mailhost_domains.all.domains : d.name if !d.auto_renew]
}

output "active_brand" {
  description = "UUIDs of the brand's domains by name."
  value       = { for d in data.mailhost_domains.active_brand.domains : d.name => d.id }
}
