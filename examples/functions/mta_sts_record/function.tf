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

locals {
  policy = provider::mailhost::mta_sts_policy("testing", ["*.mailhost.example"], 1209600)
}

# The id changes with the policy, so that senders notice every change.
resource "mailhost_dns_record" "mta_sts" {
  domain = mailhost_domain.main.name
  name   = "_mta-sts"
  type   = "TXT"
  value  = provider::mailhost::mta_sts_record(provider::mailhost::mta_sts_id(local.policy))
}
