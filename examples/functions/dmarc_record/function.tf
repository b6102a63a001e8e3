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

resource "mailhost_dns_record" "newsletter_dmarc" {
  domain = mailhost_domain.main.name
  name   = "_dmarc.news"
  type   = "TXT"

  # v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com!10m; adkim=s; pct=50
  value = provider::mailhost::dmarc_record("quarantine", {
    rua   = ["dmarc@${mailhost_domain.main.name}!10m"]
    adkim = "s"
    pct   = 50
  })
}

# The options are optional.
output "strict" {
  value = provider::mailhost::dmarc_record("reject")
}
