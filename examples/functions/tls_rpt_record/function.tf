data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_dns_record" "tls_rpt" {
  domain = data.mailhost_domain.main.name
  name   = "_smtp._tls"
  type   = "TXT"

  # v=TLSRPTv1; rua=mailto:tls@example.com,https://reports.example.net/tls
  value = provider::mailhost::tls_rpt_record([
    "tls@${data.mailhost_domain.main.name}",
    "https://reports.example.net/tls",
  ])
}
