# The fixture's domain has a mailbox that the module does not manage. The domain could not
# be deleted at the end, so it is not managed either: override_resource replaces it, and the
# mailboxes are real.
provider "mailhost" {
  account_id = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
  embedded   = { fixture = "tests/fixture.json" }
}

run "adds_a_mailbox" {
  override_resource {
    target = mailhost_domain.this
  }

  variables {
    domain  = "archive.example"
    members = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
    archive = "mail@archive.example"
  }

  assert {
    condition     = output.addresses == tolist(["jane.doe@archive.example"]) && output.archived
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }
}
