# Groups addresses, as people write them, by domain.
locals {
  addresses = ["Jane.Doe@Example.com", "john@EXAMPLE.com", "zoe@Bücher.example"]
  parsed    = [for address in local.addresses : provider::mailhost::parse_address(address)]
}

# {
#   "bücher.example" = ["zoe"]
#   "example.com"    = ["jane.doe", "john"]
# }
output "local_parts" {
  value = { for address in local.parsed : address.domain_unicode => address.local_part... }
}
