resource "mailhost_service_account" "ci" {
  name = "ci-deploy"
}

# What the service account may do: it has inherited the grants of whoever created
# it.
data "mailhost_authorizations" "ci" {
  subject_type = "service_account"
  subject_id   = mailhost_service_account.ci.id
}

# Which people may do everything in the account.
data "mailhost_authorizations" "owners" {
  subject_type = "user"
  grant_kind   = "account_owner"
}

output "ci_grants" {
  description = "Permissions of the CI system, or account_owner, which is all of them."
  value       = [for a in data.mailhost_authorizations.ci.authorizations : coalesce(a.capability_key, a.grant_kind)]
}

output "owners" {
  description = "The owners, as the OAuth issuer names them."
  value       = data.mailhost_authorizations.owners.authorizations[*].subject_id
}
