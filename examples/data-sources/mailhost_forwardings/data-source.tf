# The rules are created here so that the example is complete. Usually another
# configuration creates them.
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

resource "mailhost_forwarding" "archives" {
  for_each = toset(["archive@compliance.example", "archive@backup.example"])

  domain       = mailhost_domain.main.name
  target_email = each.value
}

# Every rule of a domain.
data "mailhost_forwardings" "main" {
  domain     = mailhost_domain.main.name
  depends_on = [mailhost_forwarding.archives]
}

# Every rule of any scope that was not confirmed in time. Filters combine with AND.
data "mailhost_forwardings" "expired" {
  verification_state = "expired"
}

output "targets" {
  description = "Recipients of the domain's mail."
  value       = [for f in data.mailhost_forwardings.main.forwardings : f.target_email if f.active]
}

output "expired" {
  description = "Ids of the rules whose recipients need a new message."
  value       = data.mailhost_forwardings.expired.forwardings[*].id
}
