data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_dns_record" "newsletter_dmarc" {
  domain = data.mailhost_domain.main.name
  name   = "_dmarc.news"
  type   = "TXT"

  # v=DMARC1; p=quarantine; np=reject; rua=mailto:dmarc@example.com; adkim=s; t=y
  value = provider::mailhost::dmarc_record("quarantine", {
    np    = "reject"
    rua   = ["dmarc@${data.mailhost_domain.main.name}"]
    adkim = "s"
    t     = "y" # while the reports show mail of yours that fails
  })
}

# The options are optional.
output "strict" {
  value = provider::mailhost::dmarc_record("reject")
}
