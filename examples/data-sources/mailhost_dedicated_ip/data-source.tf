# The address is claimed here so that the example is complete. Usually another
# configuration claims it.
data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

# Find it by address. You can also use id or name.
data "mailhost_dedicated_ip" "outbound" {
  ip = mailhost_dedicated_ip.outbound.ip_addresses[0].ip
}

output "unhealthy_addresses" {
  description = "Addresses that should not send mail at the moment."
  value       = [for a in data.mailhost_dedicated_ip.outbound.ip_addresses : a.ip if a.healthy == false]
}
