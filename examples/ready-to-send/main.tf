resource "mailhost_domain" "main" {
  name        = "example.com"
  auto_renew  = true
  on_existing = "adopt"
}

locals {
  # The hosts of the built-in MX records, which the policy for TLS names.
  mta_sts = provider::mailhost::mta_sts_policy("testing", ["mx1.mailhost.example", "mx2.mailhost.example"], 604800)
}

resource "mailhost_dns_zone" "main" {
  domain = mailhost_domain.main.name

  records = {
    # The mail host, as in its built-in record, and the help desk. Mailchimp needs nothing here.
    "@ TXT" = { values = [provider::mailhost::spf_record(["include:_spf.mailhost.example", "include:mail.zendesk.com"], "~all")] }

    # Mailchimp signs with keys that it publishes itself. So does Zendesk.
    "k2._domainkey CNAME"       = { values = ["dkim2.mcsv.net."] }
    "k3._domainkey CNAME"       = { values = ["dkim3.mcsv.net."] }
    "zendesk1._domainkey CNAME" = { values = ["zendesk1._domainkey.zendesk.com."] }
    "zendesk2._domainkey CNAME" = { values = ["zendesk2._domainkey.zendesk.com."] }

    # Begin with "none", and go on when the reports name no sender of yours any more.
    "_dmarc TXT" = { values = [provider::mailhost::dmarc_record("quarantine", { rua = ["dmarc@example.com"] })] }

    # Mail to you travels by TLS. The web server pages.example.net serves the output mta_sts_policy.
    "_mta-sts TXT"   = { values = [provider::mailhost::mta_sts_record(provider::mailhost::mta_sts_id(local.mta_sts))] }
    "mta-sts CNAME"  = { values = ["pages.example.net."] }
    "_smtp._tls TXT" = { values = [provider::mailhost::tls_rpt_record(["tls@example.com"])] }
  }
}

# Reports arrive at an address that exists.
resource "mailhost_mailbox" "reports" {
  for_each = toset(["dmarc", "tls"])

  domain     = mailhost_domain.main.name
  local_part = each.key
  first_name = upper(each.key)
  last_name  = "Reports"
}
