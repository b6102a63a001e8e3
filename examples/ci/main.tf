# The jobs set MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN.
provider "mailhost" {}

variable "domain" {
  description = "Domain of the account."
  type        = string
  default     = "example.com"
  nullable    = false
}

variable "role_mailboxes" {
  description = "Purpose of each mailbox that a domain must have (RFC 2142), by local part."
  type        = map(string)
  default = {
    abuse      = "Complaints"
    postmaster = "Mail"
  }
  nullable = false
}

# An unattended job must not buy anything: without contact_info it adopts a domain that
# the account owns, or fails.
resource "mailhost_domain" "main" {
  name        = var.domain
  auto_renew  = true
  on_existing = "adopt"

  lifecycle {
    prevent_destroy = true
  }
}

resource "mailhost_mailbox" "role" {
  for_each = var.role_mailboxes

  domain     = mailhost_domain.main.name
  local_part = each.key
  first_name = each.value
  last_name  = "Team"
}
