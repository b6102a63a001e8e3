# Runs on an embedded account in a new folder:
#   MAILHOST_DATA_DIR=$(mktemp -d) terraform test
#
# `embedded` takes precedence over MAILHOST_BASE_URL and MAILHOST_TOKEN, so the test
# never reaches a real account and never buys anything.
provider "mailhost" {
  account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
  embedded   = {}
}

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
    "john.roe" = { first_name = "John", last_name = "Roe" }
  }
}

run "plan" {
  command = plan

  assert {
    condition     = length(mailhost_mailbox.this) == 2 && length(mailhost_forwarding.archive) == 0
    error_message = "A team of two without an archive must have two mailboxes and no rule."
  }
}

run "refuses_postmaster" {
  command = plan

  variables {
    members = { postmaster = { first_name = "Mail", last_name = "Administration" } }
  }

  expect_failures = [var.members]
}

run "create" {
  assert {
    condition     = output.addresses == tolist(["jane.doe@example.com", "john.roe@example.com"])
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }

  assert {
    condition     = mailhost_domain.this.status == "active" && !output.archived
    error_message = "The domain is ${mailhost_domain.this.status}."
  }
}

run "change" {
  variables {
    members = {
      "jane.doe" = { first_name = "Jane", last_name = "Roe" }
    }
    archive = "jane.doe@example.com"
  }

  # Checks values that the server computes.
  assert {
    condition     = mailhost_forwarding.archive[0].verification_state == "internal" && output.archived
    error_message = "A mailbox of the account needs no confirmation; the rule is ${mailhost_forwarding.archive[0].verification_state}."
  }

  assert {
    condition     = output.addresses == tolist(["jane.doe@example.com"]) && mailhost_mailbox.this["jane.doe"].last_name == "Roe"
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }
}
