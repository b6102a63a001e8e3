resource "mailhost_domain" "main" {
  name = "example.com"

  contact_info = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
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
  domain    = mailhost_domain.main.name
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
