data "mailhost_domain" "main" {
  name = "example.com"
}

# Find a record by domain, type and name: here the built-in record with the key
# that signs the domain's mail.
data "mailhost_dns_record" "dkim" {
  domain = data.mailhost_domain.main.id
  type   = "TXT"
  name   = "mailhost._domainkey"
}

# Add the value if there are several records of the type at the name. You can also
# use only id.
data "mailhost_dns_record" "first_mx" {
  domain = data.mailhost_domain.main.id
  type   = "MX"
  name   = "@"
  value  = "mx1.mailhost.example"
}

output "dkim" {
  description = "Record to publish if another service hosts the domain's DNS."
  value       = { (data.mailhost_dns_record.dkim.fqdn) = data.mailhost_dns_record.dkim.value }
}

output "first_mx_priority" {
  value = data.mailhost_dns_record.first_mx.priority
}
