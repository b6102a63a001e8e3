locals {
  policy = provider::mailhost::mta_sts_policy("enforce", ["mail.example.com"], 1209600)
}

# 32 hexadecimal digits that change with the policy.
output "mta_sts_id" {
  value = provider::mailhost::mta_sts_id(local.policy)
}
