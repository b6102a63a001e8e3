# All records, the built-in ones too.
data "mailhost_dns_records" "all" {
  domain     = mailhost_domain.main.name
  depends_on = [mailhost_dns_zone.main]
}

locals {
  checks = provider::mailhost::check_mail_dns("example.com", data.mailhost_dns_records.all.dns_records)
}

# A warning in each plan, and a failure of the drift job.
check "ready_to_send" {
  assert {
    condition     = alltrue([for c in local.checks : c.status == "ok"])
    error_message = join("\n", [for c in local.checks : "${c.check}: ${c.message} (${c.reference})" if c.status != "ok"])
  }
}

output "checks" {
  value = { for c in local.checks : c.check => c.status }
}

output "mta_sts_policy" {
  description = "What https://mta-sts.example.com/.well-known/mta-sts.txt has to return."
  value       = local.mta_sts
}
