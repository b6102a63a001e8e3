# The domain is bought here so that the example is complete. Usually another
# configuration buys it.
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

# Find a domain by name. You can also use id.
data "mailhost_domain" "main" {
  name = "example.com"

  depends_on = [mailhost_domain.main]
}

resource "mailhost_mailbox" "info" {
  domain     = data.mailhost_domain.main.name # known in every plan, unlike the id of a changing domain
  local_part = "info"
  first_name = "Front"
  last_name  = "Desk"
}

output "domain_can_send" {
  description = "Whether the domain can send mail."
  value       = data.mailhost_domain.main.outbound_routing_ready
}
