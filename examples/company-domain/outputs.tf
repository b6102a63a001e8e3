output "domain" {
  description = "State of the domain."
  value       = module.company.status
}

output "mailboxes" {
  description = "Number of mailboxes."
  value       = length(module.company.mailboxes)
}

output "unconfirmed_forwarding" {
  description = "Recipients who have not yet opened the link in their message."
  value       = module.company.unconfirmed_forwarding
}

output "mta_sts_policy" {
  description = "MTA-STS policy, and the URL that has to serve it."
  value       = module.company.mta_sts_policy
}
