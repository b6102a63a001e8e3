data "mailhost_domain" "main" {
  name = "example.com"
}

# Writes the list of addresses again whenever the mailbox is created or changed.
resource "mailhost_mailbox" "jane" {
  domain     = data.mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.mailhost_export_mailboxes.of_domain]
    }
  }
}

action "mailhost_export_mailboxes" "of_domain" {
  config {
    domain = data.mailhost_domain.main.name
    path   = "${abspath(path.root)}/mailboxes.csv"
  }
}

# Run by hand, this writes a new file for each day:
#
#   terraform apply -invoke=action.mailhost_export_mailboxes.backup
action "mailhost_export_mailboxes" "backup" {
  config {
    path      = "${abspath(path.root)}/mailboxes-${formatdate("YYYY-MM-DD", plantimestamp())}.csv"
    overwrite = false
  }
}
