# The address is claimed here so that the example stands alone; as a rule another
# configuration has claimed it.
data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

# By the address itself. With id or name in place of ip: by UUID, or by name.
data "mailhost_dedicated_ip" "outbound" {
  ip = mailhost_dedicated_ip.outbound.ip_addresses[0].ip
}

output "unhealthy_addresses" {
  description = "Those of its addresses that mail should not leave from now."
  value       = [for a in data.mailhost_dedicated_ip.outbound.ip_addresses : a.ip if a.healthy == false]
}
