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

# One mailbox for each line, with its address as the key. A changed key deletes the
# mailbox with its mail and creates an empty one.
resource "mailhost_mailbox" "staff" {
  for_each = { for p in local.people : "${p.local_part}@${mailhost_domain.main.name}" => p }

  domain     = mailhost_domain.main.name
  local_part = each.value.local_part
  first_name = each.value.first_name
  last_name  = each.value.last_name
}
