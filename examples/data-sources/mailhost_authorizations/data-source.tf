resource "mailhost_service_account" "ci" {
  name = "ci-deploy"
}

# The grants of the service account, which it inherits from its creator.
data "mailhost_authorizations" "ci" {
  subject_type = "service_account"
  subject_id   = mailhost_service_account.ci.id
}

# The people who can do everything in the account.
data "mailhost_authorizations" "owners" {
  subject_type = "user"
  grant_kind   = "account_owner"
}

output "ci_grants" {
  description = "Capabilities of the CI system, or account_owner, which includes all of them."
  value       = [for a in data.mailhost_authorizations.ci.authorizations : coalesce(a.capability_key, a.grant_kind)]
}

output "owners" {
  description = "The owners' ids at the OAuth issuer."
  value       = data.mailhost_authorizations.owners.authorizations[*].subject_id
}
