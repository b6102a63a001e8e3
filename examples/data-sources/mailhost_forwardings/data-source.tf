# The rules are created here so that the example is complete. Usually another
# configuration creates them.
data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_forwarding" "archives" {
  for_each = toset(["archive@compliance.example", "archive@backup.example"])

  domain       = data.mailhost_domain.main.name
  target_email = each.value
}

# Every rule of a domain.
data "mailhost_forwardings" "main" {
  domain     = data.mailhost_domain.main.name
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
