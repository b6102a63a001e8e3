data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  # Choose by what does not change by itself, such as the country, and not by
  # available: another option would replace the address.
  option_id = one([for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.id if o.country_code == "DE"])
}

output "options" {
  description = "Country of each option, by its name."
  value       = { for o in data.mailhost_dedicated_ip_options.all.dedicated_ip_options : o.name => o.country_code }
}
