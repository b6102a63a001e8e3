# Serve it at https://mta-sts.example.com/.well-known/mta-sts.txt.
output "mta_sts_policy" {
  value = provider::mailhost::mta_sts_policy("enforce", [
    "mail.example.com",
    "*.backup.example.net",
  ], 1209600)
}
