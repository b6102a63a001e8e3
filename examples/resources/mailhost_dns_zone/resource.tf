data "mailhost_domain" "main" {
  name = "example.com"
}

# The domain has these records, the system-managed ones and those of ignore. Every
# other record is removed.
resource "mailhost_dns_zone" "main" {
  domain = data.mailhost_domain.main.name

  records = {
    "@ A"      = { values = ["192.0.2.10"], ttl = 300 }
    "@ CAA"    = { values = ["0 issue \"ca.example.net\""] }
    "www AAAA" = { values = ["2001:db8::10", "2001:db8::11"] }
    "blog CNAME" = {
      values = ["sites.example.net."]
    }

    # The priority comes first, as in a zone file.
    "news MX"               = { values = ["10 mx1.newsletter.example.", "20 mx2.newsletter.example."] }
    "news TXT"              = { values = ["v=spf1 include:_spf.newsletter.example -all"] }
    "_submissions._tcp SRV" = { values = ["0 5 465 smtp.mailhost.example."], ttl = 86400 }
  }

  # The certificate client and the office's router manage these themselves.
  ignore = ["_acme-challenge** TXT", "*.dyn A,AAAA"]
}
