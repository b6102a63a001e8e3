data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  # Choose by an attribute that never changes, such as the country, and not by
  # available: a different option replaces the address.
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

output "options" {
  description = "Country of each option by name."
  value       = { for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.name => o.country_code }
}
