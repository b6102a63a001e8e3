# Find a domain by name. You can also use id.
data "mailhost_domain" "main" {
  name = "example.com"
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
