variable "domains" {
  description = "Domains, as people write them."
  type        = list(string)
  default     = ["Example.com", "example.com.", "Bücher.example"]
}

# Three spellings of two domains: example.com and xn--bcher-kva.example.
output "domains" {
  value = toset([for name in var.domains : provider::mailhost::normalize_domain(name)])
}
