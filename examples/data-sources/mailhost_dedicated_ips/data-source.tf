# The address is claimed here so that the example is complete. Usually another
# configuration claims it.
data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

# Filters combine with AND.
data "mailhost_dedicated_ips" "german" {
  country_code = "DE"
  status       = "active"

  depends_on = [mailhost_dedicated_ip.outbound]
}

output "spf_mechanisms" {
  description = "SPF mechanisms that allow mail from these addresses."
  value = [
    for a in flatten(data.mailhost_dedicated_ips.german.dedicated_ips[*].ip_addresses) :
    "${strcontains(a.ip, ":") ? "ip6" : "ip4"}:${a.ip}"
  ]
}
