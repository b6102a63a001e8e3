# The service account is created here so that the example stands alone; as a rule
# another configuration has created it.
resource "mailhost_service_account" "ci" {
  name = "ci-deploy"
}

# By name, among those that are not revoked. With id in place of name: by UUID.
data "mailhost_service_account" "ci" {
  name = "ci-deploy"

  depends_on = [mailhost_service_account.ci]
}

# What it may do.
data "mailhost_authorizations" "ci" {
  subject_type = "service_account"
  subject_id   = data.mailhost_service_account.ci.id
}

output "ci_expires_at" {
  description = "When the CI system needs another token; null for never."
  value       = data.mailhost_service_account.ci.expires_at
}

output "ci_grants" {
  description = "What the CI system may do."
  value       = data.mailhost_authorizations.ci.authorizations[*].grant_kind
}
