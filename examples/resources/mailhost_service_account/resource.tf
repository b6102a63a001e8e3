# The first apply in the week before the token expires replaces the service account
# with its token. The new token exists before the old one is revoked.
resource "mailhost_service_account" "ci" {
  name          = "ci-deploy"
  valid_for     = "720h" # 30 days; not longer than the provider's own credential
  rotate_before = "168h"

  lifecycle {
    create_before_destroy = true
  }
}

output "ci_token" {
  description = "Bearer token for the CI system."
  value       = mailhost_service_account.ci.token
  sensitive   = true
}
