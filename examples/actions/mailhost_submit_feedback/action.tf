# terraform apply -invoke=action.mailhost_submit_feedback.aliases
action "mailhost_submit_feedback" "aliases" {
  config {
    title       = "Aliases for mailboxes"
    description = "We would like to add aliases to a mailbox with Terraform."
    category    = "feature_request"

    attributes = jsonencode({
      mailboxes = 250
      team      = "infrastructure"
    })
  }
}
