data "mailhost_domain" "main" {
  name = "example.com"
}

locals {
  policy = provider::mailhost::mta_sts_policy("testing", ["*.mailhost.example"], 1209600)
}

# The id changes with the policy, so that senders notice every change.
resource "mailhost_dns_record" "mta_sts" {
  domain = data.mailhost_domain.main.name
  name   = "_mta-sts"
  type   = "TXT"
  value  = provider::mailhost::mta_sts_record(provider::mailhost::mta_sts_id(local.policy))
}
