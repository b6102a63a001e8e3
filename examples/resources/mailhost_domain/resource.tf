# Buys the domain. The plan shows the price.
resource "mailhost_domain" "main" {
  name         = "example.com"
  auto_renew   = true
  redirect_url = "https://www.example.net/"

  # Manages a domain that the account owns already, and buys nothing then. The default,
  # "error", makes the plan fail and shows the import block.
  on_existing = "adopt"

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
