terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

variable "last_name" {
  default = "Doe"
}

resource "mailhost_domain" "main" {
  name         = "example.com"
  redirect_url = "https://www.example.net/"

  contact_info = {
    first_name = "Jane", last_name = "Doe", organization = "Example", email = "jane@example.net", phone = "+4922112345"
    address_1  = "Hauptstr. 1", city = "Köln", state = "NRW", zip = "50667", country = "DE"
  }
}

resource "mailhost_mailbox" "jane" {
  domain     = mailhost_domain.main.name
  local_part = "jane"
  first_name = "Jane"
  last_name  = var.last_name
}

resource "mailhost_mailbox" "many" {
  count      = 12
  domain     = mailhost_domain.main.name
  local_part = "user${count.index}"
  first_name = "User"
  last_name  = "Number ${count.index}"
}

resource "mailhost_mailbox_set" "staff" {
  domain    = mailhost_domain.main.name
  mailboxes = { for name in ["ann", "bob", "cid"] : name => { first_name = title(name), last_name = var.last_name } }

  max_deletions = 3
}

resource "mailhost_dns_record" "www" {
  domain = mailhost_domain.main.name
  name   = "www"
  type   = "A"
  value  = "192.0.2.1"
  ttl    = var.last_name == "Doe" ? 300 : 600
}

resource "mailhost_domain" "zone" {
  name         = "example.org"
  contact_info = mailhost_domain.main.contact_info
}

resource "mailhost_dns_zone" "zone" {
  domain = mailhost_domain.zone.name

  records = {
    "@ A"     = { values = ["192.0.2.10"], ttl = 300 }
    "news MX" = { values = ["10 mx1.example.", "20 mx2.example."] }
  }
}

resource "mailhost_forwarding" "office" {
  domain       = mailhost_domain.main.name
  target_email = mailhost_mailbox.jane.primary_email
}

resource "mailhost_forwarding" "archive" {
  target_email = "archive@compliance.example"
}

resource "mailhost_service_account" "ci" {
  name          = "ci"
  valid_for     = "720h"
  rotate_before = "168h"
}

resource "mailhost_master_password" "generated" {
  name     = "migration"
  domain   = mailhost_domain.main.name
  generate = true
}

data "mailhost_account" "current" {}

data "mailhost_mailboxes" "all" {
  domain     = mailhost_domain.main.name
  depends_on = [mailhost_mailbox.jane, mailhost_mailbox.many, mailhost_mailbox_set.staff]
}

data "mailhost_dns_records" "zone" {
  domain     = mailhost_domain.zone.name
  depends_on = [mailhost_dns_zone.zone]
}

output "plan" {
  value = data.mailhost_account.current.plan_id
}

output "mailboxes" {
  value = data.mailhost_mailboxes.all.mailboxes
}

output "records" {
  value = data.mailhost_dns_records.zone.dns_records
}

output "jane" {
  value = mailhost_mailbox.jane
}

output "staff" {
  value = mailhost_mailbox_set.staff.ids
}

output "office" {
  value = mailhost_forwarding.office
}

output "ci" {
  value = mailhost_service_account.ci.id
}
