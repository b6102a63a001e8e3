# Runs against a server: mailhostd try starts one and sets MAILHOST_BASE_URL,
# MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN for the empty provider block. A plain
# `terraform test` with the variables of a real account would buy a domain, so this file
# is in its own folder, which has to be named.
provider "mailhost" {}

variables {
  domain = "example.com"
  contact_info = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.net"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
  members = {
    "jane.doe" = { first_name = "Jane", last_name = "Doe" }
  }
}

run "waits_for_the_archive" {
  variables {
    archive = "archive@compliance.example"
  }

  assert {
    condition     = !output.archived && mailhost_forwarding.archive[0].verification_state == "pending"
    error_message = "Nobody has confirmed, but the rule is ${mailhost_forwarding.archive[0].verification_state}."
  }
}

run "without_archive" {
  assert {
    condition     = length(mailhost_forwarding.archive) == 0 && output.addresses == tolist(["jane.doe@example.com"])
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }
}
