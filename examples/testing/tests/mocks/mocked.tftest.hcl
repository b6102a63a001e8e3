# Runs without an account: the provider still checks the configuration, but the CLI makes
# up what the server would compute. It needs OpenTofu 1.8 or any Terraform that this module
# supports.
mock_provider "mailhost" {
  mock_resource "mailhost_domain" {
    defaults = { status = "active" }
  }

  override_resource {
    target = mailhost_mailbox.this
    values = { primary_email = "jane.doe@example.com" }
  }
}

run "mocked" {
  variables {
    domain  = "example.com"
    members = { "jane.doe" = { first_name = "Jane", last_name = "Doe" } }
  }

  assert {
    condition     = mailhost_domain.this.status == "active" && output.addresses == tolist(["jane.doe@example.com"])
    error_message = "The addresses are ${join(", ", output.addresses)}."
  }
}
