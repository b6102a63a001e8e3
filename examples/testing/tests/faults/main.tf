# A configuration that uses the module, for faults.sh.
terraform {
  backend "local" {}
}

module "team" {
  source = "../.."

  domain = "example.com"
  contact_info = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.net"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
  members = {
    "jane.doe" = { first_name = "Jane", last_name = "Doe" }
    "john.roe" = { first_name = "John", last_name = "Roe" }
    "mary.poe" = { first_name = "Mary", last_name = "Poe" }
  }
  archive = "archive@compliance.example"
}

output "addresses" {
  description = "Addresses of the team."
  value       = module.team.addresses
}
