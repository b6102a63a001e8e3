data "mailhost_domain" "main" {
  name = "example.com"
}

resource "mailhost_forwarding" "archive" {
  domain       = data.mailhost_domain.main.name
  target_email = "archive@compliance.example"
}

# If the recipient has lost the message or missed the 72 hours, run it by hand:
#
#   terraform apply -invoke=action.mailhost_resend_forwarding_verification.archive
action "mailhost_resend_forwarding_verification" "archive" {
  config {
    forwarding_id = mailhost_forwarding.archive.id
  }
}

# Or let a change trigger it: a new date sends a new message, unless the rule is
# confirmed.
resource "terraform_data" "reminder" {
  input = "2031-01-15"

  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.mailhost_resend_forwarding_verification.archive]
    }
  }
}
