data "mailhost_domains" "all" {}

# Filters combine with AND.
data "mailhost_domains" "active_brand" {
  search = "example"
  status = "active"
}

output "expiring" {
  description = "Domains without automatic renewal."
  value       = [for d in data.mailhost_domains.all.domains : d.name if !d.auto_renew]
}

output "active_brand" {
  description = "UUIDs of the brand's domains by name."
  value       = { for d in data.mailhost_domains.active_brand.domains : d.name => d.id }
}
