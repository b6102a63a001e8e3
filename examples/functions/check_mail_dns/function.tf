data "mailhost_dns_records" "all" {
  domain = "example.com"
}

locals {
  mail = provider::mailhost::check_mail_dns("example.com", data.mailhost_dns_records.all.dns_records)
}

# A check is a warning of each plan, and of the drift job.
check "mail" {
  assert {
    condition     = alltrue([for r in local.mail : r.status != "failed"])
    error_message = join("\n", [for r in local.mail : "${r.check}: ${r.message} (${r.reference})" if r.status == "failed"])
  }
}

output "mail" {
  value = { for r in local.mail : r.check => r.status }
}
