output "addresses" {
  description = "Addresses of the team."
  value       = sort([for mailbox in mailhost_mailbox.this : mailbox.primary_email])
}

output "archived" {
  description = "Whether the archive receives a copy of the mail, which its recipient has to confirm first."
  value       = length([for rule in mailhost_forwarding.archive : rule if rule.active]) > 0

  precondition {
    condition     = alltrue([for rule in mailhost_forwarding.archive : rule.verification_state != "expired"])
    error_message = "The archive's recipient has not confirmed in time."
  }
}
