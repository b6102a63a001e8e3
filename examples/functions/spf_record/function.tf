data "mailhost_domain" "main" {
  name = "example.com"
}

# The domain comes with its own policy. Newsletters are sent from a subdomain, by
# another service and from two networks of the company.
resource "mailhost_dns_record" "newsletter_spf" {
  domain = data.mailhost_domain.main.name
  name   = "news"
  type   = "TXT"
  value = provider::mailhost::spf_record([
    "include:_spf.newsletter.example",
    "ip4:192.0.2.0/24",
    "ip6:2001:db8:25::/48",
  ], "-all")
}

# Declares that a name sends no mail.
resource "mailhost_dns_record" "www_spf" {
  domain = data.mailhost_domain.main.name
  name   = "www"
  type   = "TXT"
  value  = provider::mailhost::spf_record([], "-all")
}
