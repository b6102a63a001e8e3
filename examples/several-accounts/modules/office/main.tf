variable "domain" {
  description = "Name of the office's domain."
  type        = string
  nullable    = false
}

variable "contact_info" {
  description = "Registrant of the domain."
  type = object({
    first_name   = string
    last_name    = string
    organization = string
    email        = string
    phone        = string
    address_1    = string
    zip          = string
    city         = string
    state        = string
    country      = string
  })
  nullable = false
}

variable "staff" {
  description = "Mailboxes by local part."
  type = map(object({
    first_name = string
    last_name  = string
  }))
  nullable = false
}

data "mailhost_account" "this" {}

resource "mailhost_domain" "this" {
  name         = var.domain
  contact_info = var.contact_info
  auto_renew   = true
}

resource "mailhost_mailbox" "this" {
  for_each = var.staff

  domain     = mailhost_domain.this.name
  local_part = each.key
  first_name = each.value.first_name
  last_name  = each.value.last_name
}

output "account_id" {
  description = "Id of the account."
  value       = data.mailhost_account.this.id
}

output "domain" {
  description = "Name of the domain."
  value       = mailhost_domain.this.name
}

output "mailboxes" {
  description = "UUID of each mailbox by address."
  value       = { for mailbox in mailhost_mailbox.this : mailbox.primary_email => mailbox.id }
}
