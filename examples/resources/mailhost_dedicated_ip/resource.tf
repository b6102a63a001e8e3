data "mailhost_dedicated_ip_options" "all" {}

# Claims an address, which costs money. If the API can't list the options, find their
# ids in the service's control panel.
resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

output "outbound_addresses" {
  description = "Addresses that send the account's mail."
  value       = mailhost_dedicated_ip.outbound.ip_addresses[*].ip
}
