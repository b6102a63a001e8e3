# Buys the domain. The plan shows the price.
resource "mailhost_domain" "main" {
  name         = "example.com"
  auto_renew   = true
  redirect_url = "https://www.example.net/"

  # Fails the plan if the account owns the domain already. The default, "adopt",
  # manages the existing domain and buys nothing.
  on_existing = "error"

  # The registrant; needed only to buy the domain.
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
