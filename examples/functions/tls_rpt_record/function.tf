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

resource "mailhost_dns_record" "tls_rpt" {
  domain = mailhost_domain.main.name
  name   = "_smtp._tls"
  type   = "TXT"

  # v=TLSRPTv1; rua=mailto:tls@example.com,https://reports.example.net/tls
  value = provider::mailhost::tls_rpt_record([
    "tls@${mailhost_domain.main.name}",
    "https://reports.example.net/tls",
  ])
}
