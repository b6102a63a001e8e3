# The token of a monitoring system may read the mailboxes of one domain, and nothing else.
data "mailhost_domain" "example" {
  name = "example.com"
}

resource "mailhost_service_account" "monitoring" {
  name = "monitoring"
  permissions = [
    { capability_key = "domain.view", resource_type = "domain", resource_id = data.mailhost_domain.example.id },
    { capability_key = "mailbox.view", resource_type = "domain", resource_id = data.mailhost_domain.example.id },
  ]
}
