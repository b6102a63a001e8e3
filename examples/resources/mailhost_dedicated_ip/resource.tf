data "mailhost_dedicated_ip_options" "all" {}

# Claims an address, which is paid for. Where the API can't list the options, the
# service's own control panel shows their ids.
resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

output "outbound_addresses" {
  description = "Addresses that the account's mail leaves from."
  value       = mailhost_dedicated_ip.outbound.ip_addresses[*].ip
}
