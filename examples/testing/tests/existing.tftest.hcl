# The fixture creates the account with a domain without mailboxes, and with another
# domain that has the archive. It is not applied to an existing account, and the run
# destroys the domain that it adopts, so each run needs a new MAILHOST_DATA_DIR.
provider "mailhost" {
  account_id = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
  embedded   = { fixture = "tests/fixture.json" }
}

# Without contact_info nothing can be bought.
run "adopts_the_domain" {
  variables {
    domain  = "example.org"
    members = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
    archive = "mail@archive.example"
  }

  assert {
    condition     = output.addresses == tolist(["jane.doe@example.org"]) && output.archived
    error_message = "The addresses are ${join(", ", output.addresses)}, and mail ${output.archived ? "is" : "is not"} archived."
  }
}
