# The test of mocked.tftest.hcl for OpenTofu 1.8 or later, which reads no file of mocks and
# refuses a mock of what the module sets. Copy the values you need from mailhost.tfmock.hcl.
mock_provider "mailhost" {
  mock_resource "mailhost_domain" {
    defaults = {
      id     = "00000003-0000-4000-8000-000000000000"
      status = "active"
    }
  }

  mock_resource "mailhost_mailbox" {
    defaults = { primary_email = "jane.doe@example.com" }
  }

  mock_resource "mailhost_forwarding" {
    defaults = {
      active             = true
      verification_state = "verified"
    }
  }
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
