# Buys the domain. The plan says so, and at what price.
resource "mailhost_domain" "main" {
  name         = "example.com"
  auto_renew   = true
  redirect_url = "https://www.example.net/"

  # A domain that the account owns already is an error in the plan; the default,
  # "adopt", takes it over and buys nothing.
  on_existing = "error"

  # Who registers the domain; needed only to buy it.
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
