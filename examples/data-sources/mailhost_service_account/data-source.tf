# The service account is created here so that the example is complete. Usually
# another configuration creates it.
resource "mailhost_service_account" "ci" {
  name = "ci-deploy"
}

# Find a service account by name, unless it is revoked. You can also use id.
data "mailhost_service_account" "ci" {
  name = "ci-deploy"

  depends_on = [mailhost_service_account.ci]
}

# Its grants.
data "mailhost_authorizations" "ci" {
  subject_type = "service_account"
  subject_id   = data.mailhost_service_account.ci.id
}

output "ci_expires_at" {
  description = "When the CI system's token expires; null for never."
  value       = data.mailhost_service_account.ci.expires_at
}

output "ci_grants" {
  description = "Grants of the CI system."
  value       = data.mailhost_authorizations.ci.authorizations[*].grant_kind
}
