# The domain is bought here so that the example stands alone; as a rule another
# configuration has bought it.
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

# By name. With id in place of name: by UUID.
data "mailhost_domain" "main" {
  name = "example.com"

  depends_on = [mailhost_domain.main]
}

resource "mailhost_mailbox" "info" {
  domain     = data.mailhost_domain.main.name # known in every plan; its id is not while the domain changes
  local_part = "info"
  first_name = "Front"
  last_name  = "Desk"
}

output "domain_can_send" {
  description = "Whether mail can be sent from the domain."
  value       = data.mailhost_domain.main.outbound_routing_ready
}
