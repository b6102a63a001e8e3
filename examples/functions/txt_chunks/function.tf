locals {
  # 300 characters.
  verification = "site-verification=${join("", [for i in range(282) : i % 10])}"
}

# The first string has 255 characters, the second 45.
output "strings" {
  value = provider::mailhost::txt_chunks(local.verification)
}
