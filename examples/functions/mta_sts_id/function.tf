locals {
  policy = provider::mailhost::mta_sts_policy("enforce", ["mail.example.com"], 1209600)
}

# Another policy has another id: 32 hexadecimal digits.
output "mta_sts_id" {
  value = provider::mailhost::mta_sts_id(local.policy)
}
