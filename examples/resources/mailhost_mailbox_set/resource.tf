data "mailhost_domain" "main" {
  name = "example.com"
}

locals {
  # Usually a file beside the configuration: csvdecode(file("mailboxes.csv")).
  people = csvdecode(<<-CSV
    local_part,first_name,last_name
    jane.doe,Jane,Doe
    zoe.mueller,Zoë,Müller
    sean.o'neill,Seán,O'Neill
    CSV
  )
}

# Each line of the file is a mailbox. Nothing is deleted when a line disappears,
# unless max_deletions allows it.
resource "mailhost_mailbox_set" "staff" {
  domain    = data.mailhost_domain.main.name
  mailboxes = { for p in local.people : p.local_part => { first_name = p.first_name, last_name = p.last_name } }

  lifecycle {
    # A first apply that creates only some of the mailboxes ends with warnings.
    # This makes it fail; the next apply creates the rest.
    postcondition {
      condition     = length(self.ids) == length(local.people)
      error_message = "Some mailboxes were not created. See the warnings, and run apply again."
    }
  }
}

output "addresses" {
  value = mailhost_mailbox_set.staff.addresses
}
