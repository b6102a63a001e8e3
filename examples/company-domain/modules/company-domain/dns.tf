# Every domain comes with MX, SPF, DKIM and DMARC records, which are not declared
# here. These records are added to them; a DMARC record replaces the built-in one.
locals {
  own_dmarc = var.dmarc_policy == null ? {} : {
    "dmarc" = { name = "_dmarc", type = "TXT", value = provider::mailhost::dmarc_record(var.dmarc_policy, { np = "reject", rua = var.dmarc_reports_to }) }
  }

  # mta_sts.policy_host serves the policy. Its id in the DNS changes with the policy.
  mta_sts_policy = var.mta_sts == null ? null : provider::mailhost::mta_sts_policy(var.mta_sts.mode, var.mta_sts.mx, var.mta_sts.max_age)

  mta_sts = var.mta_sts == null ? {} : {
    "mta-sts"        = { name = "_mta-sts", type = "TXT", value = provider::mailhost::mta_sts_record(provider::mailhost::mta_sts_id(local.mta_sts_policy)) }
    "mta-sts policy" = { name = "mta-sts", type = "CNAME", value = var.mta_sts.policy_host }
  }

  tls_reports = length(var.tls_reports_to) == 0 ? {} : {
    "tls reports" = { name = "_smtp._tls", type = "TXT", value = provider::mailhost::tls_rpt_record(var.tls_reports_to) }
  }

  verifications = { for service, text in var.verifications : "verification ${service}" => { name = "@", type = "TXT", value = text } }

  # Mail programs look these up (RFC 6186, RFC 8314). SRV: weight, port, target.
  mail_programs = {
    "imaps"            = { name = "_imaps._tcp", type = "SRV", priority = 0, value = "1 993 ${var.mail_hosts.imap}" }
    "submissions"      = { name = "_submissions._tcp", type = "SRV", priority = 0, value = "1 465 ${var.mail_hosts.submission}" }
    "autodiscover srv" = { name = "_autodiscover._tcp", type = "SRV", priority = 0, value = "1 443 ${var.mail_hosts.autodiscover}" }
    "autodiscover"     = { name = "autodiscover", type = "CNAME", value = var.mail_hosts.autodiscover }
  }

  # Newsletters and similar mail are sent from a subdomain, so that their reputation
  # does not affect the staff's mail.
  spf = {
    for subdomain, sender in var.senders : "${subdomain} spf" => {
      name = subdomain, type = "TXT", value = provider::mailhost::spf_record(sender.spf, "-all")
    }
  }
  dkim = {
    for subdomain, sender in var.senders : "${subdomain} dkim" => {
      name = "${sender.dkim_selector}._domainkey.${subdomain}", type = "TXT", value = provider::mailhost::dkim_record(sender.dkim_key)
    }
  }
  dmarc = {
    for subdomain, sender in var.senders : "${subdomain} dmarc" => {
      name = "_dmarc.${subdomain}", type = "TXT", value = provider::mailhost::dmarc_record("reject", { adkim = "s", aspf = "s", rua = var.dmarc_reports_to })
    }
  }
}

# One map, with each record's purpose as the key: plans show it, and a changed value
# updates the record.
resource "mailhost_dns_record" "this" {
  for_each = merge(local.own_dmarc, local.mta_sts, local.tls_reports, local.verifications, local.mail_programs, local.spf, local.dkim, local.dmarc)

  domain   = mailhost_domain.this.name
  name     = each.value.name
  type     = each.value.type
  value    = each.value.value
  priority = try(each.value.priority, null)
}
