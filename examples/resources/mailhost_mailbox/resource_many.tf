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

# One mailbox for each line, with its address as the key. A changed key deletes the
# mailbox with its mail and creates an empty one.
resource "mailhost_mailbox" "staff" {
  for_each = { for p in local.people : "${p.local_part}@${data.mailhost_domain.main.name}" => p }

  domain     = data.mailhost_domain.main.name
  local_part = each.value.local_part
  first_name = each.value.first_name
  last_name  = each.value.last_name
}
