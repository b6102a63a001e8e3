data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_dns_record" "newsletter_dmarc" {
  domain = data.mailhost_domain.main.name
  name   = "_dmarc.news"
  type   = "TXT"

  # v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com!10m; adkim=s; pct=50
  value = provider::mailhost::dmarc_record("quarantine", {
    rua   = ["dmarc@${data.mailhost_domain.main.name}!10m"]
    adkim = "s"
    pct   = 50
  })
}

# The options are optional.
output "strict" {
  value = provider::mailhost::dmarc_record("reject")
}
