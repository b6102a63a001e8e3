# Every resource, in the states that differ most. A database and a state with this were
# written by the release that the folder is named after.
provider "mailhost" {
  embedded = {}
}

locals {
  contact = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Street 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
}

data "mailhost_account" "this" {}

data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_domain" "main" {
  name         = "example.com"
  contact_info = local.contact
  auto_renew   = true
  redirect_url = "https://www.example.com/"
}

resource "mailhost_domain" "other" {
  name         = "müller.com"
  contact_info = local.contact
}

resource "mailhost_mailbox" "jane" {
  domain     = mailhost_domain.main.name
  local_part = "Jane.Doe"
  first_name = "Jane"
  last_name  = "Doe"

  on_existing = "adopt"
}

resource "mailhost_mailbox_set" "team" {
  domain        = mailhost_domain.other.name
  max_deletions = 3
  on_existing   = "adopt"
  retired       = { linus = "keep" }

  mailboxes = {
    ada   = { first_name = "Ada", last_name = "Lovelace" }
    grace = { first_name = "Grace", last_name = "Hopper" }
    zoe   = { first_name = "Zoë", last_name = "Müller" }
  }
}

resource "mailhost_dns_record" "text" {
  domain = mailhost_domain.main.name
  name   = "news"
  type   = "TXT"
  value  = "v=spf1 include:_spf.newsletter.example -all"
  ttl    = 300

  on_existing = "adopt"
}

resource "mailhost_dns_record" "mx" {
  domain   = mailhost_domain.main.name
  name     = "lists"
  type     = "MX"
  value    = "mx.example.net."
  priority = 10
}

resource "mailhost_dns_zone" "other" {
  domain = mailhost_domain.other.name
  ignore = ["_acme-challenge** TXT"]

  records = {
    "@ A"       = { values = ["192.0.2.10"], ttl = 300 }
    "www CNAME" = { values = ["example.com."] }
  }
}

resource "mailhost_forwarding" "domain" {
  domain       = mailhost_domain.main.name
  target_email = mailhost_mailbox.jane.primary_email
}

resource "mailhost_forwarding" "elsewhere" {
  domain       = mailhost_domain.other.name
  target_email = "archive@elsewhere.example"
  active       = false
  on_existing  = "adopt"
}

resource "mailhost_master_password" "generated" {
  name     = "generated"
  generate = true
}

resource "mailhost_master_password" "given" {
  name   = "given"
  domain = mailhost_domain.main.name
  value  = "correct horse battery staple"
}

resource "mailhost_master_password" "stored_nowhere" {
  name             = "stored nowhere"
  workspace_id     = data.mailhost_account.this.default_workspace_id
  value_wo         = "correct horse battery staple"
  value_wo_version = 1
}

resource "mailhost_service_account" "ci" {
  name = "ci"
}

resource "mailhost_service_account" "limited" {
  name = "limited"

  permissions = [
    { capability_key = "mailbox.view" },
    { capability_key = "dns_record.create", resource_type = "domain", resource_id = mailhost_domain.main.id },
  ]
}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = data.mailhost_dedicated_ip_options.all.dedicated_ip_options[0].id
}
