# The fixture's account owns the domain already, as the real one does.
provider "mailhost" {
  account_id = "5d4f9a52-7a5f-4c0e-9a3e-7f6d1c2b8e43"
  embedded   = { fixture = "tests/fixture.json" }
}

run "plan" {
  command = plan

  assert {
    condition     = mailhost_domain.main.acquisition == "adopt"
    error_message = "The plan buys the domain ${mailhost_domain.main.name}."
  }

  assert {
    condition     = alltrue([for name in ["abuse", "postmaster"] : contains(keys(mailhost_mailbox.role), name)])
    error_message = "RFC 2142 requires abuse and postmaster; the domain has ${join(", ", keys(mailhost_mailbox.role))}."
  }
}
