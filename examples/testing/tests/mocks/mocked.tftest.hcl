# Runs without an account: the provider still checks the configuration, but the CLI makes
# up what the server would compute, with the values of mailhost.tfmock.hcl. OpenTofu runs
# mocked.tofutest.hcl instead.
mock_provider "mailhost" {
  source = "./tests/mocks"
}

run "mocked" {
  variables {
    domain  = "example.com"
    members = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
    archive = "mail@archive.example"
  }

  assert {
    condition     = mailhost_domain.this.status == "active" && output.addresses == tolist(["jane.doe@example.com"])
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }
}
