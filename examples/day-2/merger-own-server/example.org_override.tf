# Your own server sells the domain, for play money.
resource "mailhost_domain" "example_org" {
  name = "example.org"

  contact_info = {
    first_name   = "Jane"
    last_name    = "Doe"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Street of Examples 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
}
