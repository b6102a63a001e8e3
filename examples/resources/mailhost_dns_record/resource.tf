data "mailhost_domain" "main" {
  name = "example.com"
}

# The domain comes with the records that its own mail needs. Another service sends
# newsletters from a subdomain.
resource "mailhost_dns_record" "newsletter_spf" {
  domain = data.mailhost_domain.main.name
  name   = "news"
  type   = "TXT"
  value  = "v=spf1 include:_spf.newsletter.example -all"
}

resource "mailhost_dns_record" "newsletter_mx" {
  domain   = data.mailhost_domain.main.name
  name     = "news"
  type     = "MX"
  value    = "bounces.newsletter.example"
  priority = 10
}

# Mail programs find the submission server with it: weight, port and target.
resource "mailhost_dns_record" "submission" {
  domain   = data.mailhost_domain.main.name
  name     = "_submissions._tcp"
  type     = "SRV"
  value    = "5 465 smtp.mailhost.example"
  priority = 0
  ttl      = 86400
}

# Only this authority may issue certificates for the domain.
resource "mailhost_dns_record" "certificates" {
  domain = data.mailhost_domain.main.name
  name   = "@"
  type   = "CAA"
  value  = "0 issue \"ca.example.net\""
}
