data "mailhost_domain" "main" {
  name = "example.com"
}

# Every record of a domain, including the built-in ones.
data "mailhost_dns_records" "of_domain" {
  domain = data.mailhost_domain.main.id
}

# The DMARC policies of all domains of the account.
data "mailhost_dns_records" "dmarc" {
  type = "TXT"
  name = "_dmarc"
}

output "zone" {
  description = "The domain's records as lines of a zone file."
  value = [
    for r in data.mailhost_dns_records.of_domain.dns_records :
    join(" ", compact(["${r.fqdn}.", r.ttl, "IN", r.type, r.priority, r.type == "TXT" ? provider::mailhost::txt_value(r.value) : r.value]))
  ]
}

output "dmarc" {
  description = "DMARC policy of each domain."
  value       = { for r in data.mailhost_dns_records.dmarc.dns_records : r.domain_name => r.value }
}
