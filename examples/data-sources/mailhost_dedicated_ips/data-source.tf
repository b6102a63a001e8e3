# The address is claimed here so that the example stands alone; as a rule another
# configuration has claimed it.
data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

# Every filter has to let a dedicated IP through.
data "mailhost_dedicated_ips" "german" {
  country_code = "DE"
  status       = "active"

  depends_on = [mailhost_dedicated_ip.outbound]
}

output "spf_mechanisms" {
  description = "What an SPF record has to allow for mail from these addresses."
  value = [
    for a in flatten(data.mailhost_dedicated_ips.german.dedicated_ips[*].ip_addresses) :
    "${strcontains(a.ip, ":") ? "ip6" : "ip4"}:${a.ip}"
  ]
}
