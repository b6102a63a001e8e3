output "domain" {
  description = "State of the domain."
  value       = module.company.status
}

output "mailboxes" {
  description = "Number of mailboxes."
  value       = length(module.company.mailboxes)
}

output "unconfirmed_forwarding" {
  description = "Recipients who have yet to open the link in their message."
  value       = module.company.unconfirmed_forwarding
}

output "mta_sts_policy" {
  description = "What to serve, and where."
  value       = module.company.mta_sts_policy
}
