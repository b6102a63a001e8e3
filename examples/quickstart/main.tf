provider "mailhost" {
  # The account is embedded, in .mailhost in the working directory. For a remote
  # account, set base_url, account_id and token instead.
  embedded = {}
}

data "mailhost_account" "this" {}

locals {
  # One mailbox for each line of the file, with its address as the key.
  mailboxes = {
    for row in csvdecode(file("${path.module}/mailboxes.csv")) : "${row.local_part}@${row.domain}" => row
  }

  # Names that users type or mail programs look up, in every domain.
  aliases = {
    for pair in setproduct(keys(var.domains), keys(var.service_hosts)) : "${pair[0]}/CNAME/${pair[1]}" => {
      domain = pair[0]
      name   = pair[1]
      type   = "CNAME"
      value  = var.service_hosts[pair[1]]
    }
  }

  # Another service sends newsletters from a subdomain, so that their reputation does
  # not affect the staff's mail. The domains come with MX, SPF, DKIM and DMARC records.
  newsletters = { for name, domain in var.domains : name => domain.newsletter if domain.newsletter != null }

  spf = {
    for domain, subdomain in local.newsletters : "${domain}/TXT/${subdomain}" => {
      domain = domain
      name   = subdomain
      type   = "TXT"
      value  = "v=spf1 include:${var.newsletter_sender} -all"
    }
  }

  dmarc = {
    for domain, subdomain in local.newsletters : "${domain}/TXT/_dmarc.${subdomain}" => {
      domain = domain
      name   = "_dmarc.${subdomain}"
      type   = "TXT"
      value  = "v=DMARC1; p=reject; rua=mailto:postmaster@${domain}"
    }
  }
}

resource "mailhost_domain" "this" {
  for_each = var.domains

  name         = each.key
  contact_info = var.registrant
  auto_renew   = each.value.auto_renew
  redirect_url = each.value.redirect_url
}

resource "mailhost_mailbox" "this" {
  for_each = local.mailboxes

  domain     = mailhost_domain.this[each.value.domain].name
  local_part = each.value.local_part
  first_name = each.value.first_name
  last_name  = each.value.last_name
}

resource "mailhost_dns_record" "this" {
  for_each = merge(local.aliases, local.spf, local.dmarc)

  domain = mailhost_domain.this[each.value.domain].name
  name   = each.value.name
  type   = each.value.type
  value  = each.value.value
  ttl    = var.dns_ttl
}

resource "mailhost_forwarding" "this" {
  for_each = { for name, domain in var.domains : name => domain.forward_to if domain.forward_to != null }

  domain       = mailhost_domain.this[each.key].name
  target_email = each.value

  # A mailbox of the account needs no verification, but it has to exist first.
  depends_on = [mailhost_mailbox.this]
}

resource "mailhost_master_password" "migration" {
  name         = "IMAP migration"
  workspace_id = data.mailhost_account.this.default_workspace_id
  generate     = true
}

resource "mailhost_service_account" "ci" {
  name       = "ci-deploy"
  expires_at = var.ci_token_expires_at
}

resource "mailhost_dedicated_ip" "outbound" {
  # mailhost derives the id of an option from the account's id.
  option_id = uuidv5(data.mailhost_account.this.id, "dedicated-ip-option:${var.dedicated_ip_region}")
}
