resource "mailhost_service_account" "ci" {
  name = "ci-deploy"
}

# The list includes revoked service accounts.
data "mailhost_service_accounts" "all" {
  depends_on = [mailhost_service_account.ci]
}

locals {
  living = [for a in data.mailhost_service_accounts.all.service_accounts : a if a.revoked_at == null]
}

output "never_expiring" {
  description = "Names of the service accounts whose tokens never expire."
  value       = sort([for a in local.living : a.name if a.expires_at == null])
}

output "never_used" {
  description = "Names of the service accounts whose tokens were never used."
  value       = sort([for a in local.living : a.name if a.last_used_at == null])
}
