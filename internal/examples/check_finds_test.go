package examples_test

import (
	"strings"
	"testing"
)

// TestCheckFinds checks that each kind of mistake makes an example fail.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	const mailbox = `
  domain     = "example.com"
  local_part = "jane"
  first_name = "Jane"
  last_name  = "Doe"
`
	for _, test := range []struct{ name, text, want string }{
		{"syntax", "resource \"mailhost_mailbox\" {\n", "Unclosed configuration block"},
		{"format", "locals {\n  a   = 1\n}\n", "It is not formatted"},
		{"type", "resource \"mailhost_mailbx\" \"jane\" {}\n", "The provider has no resource mailhost_mailbx"},
		{"attribute", "resource \"mailhost_mailbox\" \"jane\" {" + mailbox + "  alias      = \"j\"\n}\n", "Unsupported argument"},
		{"required", "resource \"mailhost_mailbox\" \"jane\" {\n  domain = \"example.com\"\n}\n", "Missing required argument"},
		{"value", "resource \"mailhost_mailbox\" \"jane\" {" + strings.Replace(mailbox, "jane", "jane doe", 1) + "}\n", "local_part must be"},
		{"computed", "resource \"mailhost_mailbox\" \"jane\" {" + mailbox + "  status     = \"active\"\n}\n", "The provider refuses it"},
		{"setting", "provider \"mailhost\" {\n  url = \"https://api.mailhost.example\"\n}\n", "Unsupported argument"},
		{"reference", "output \"a\" {\n  value = mailhost_mailbox.jane.email\n}\n", "There is no attribute email"},
		{"nested reference", "output \"a\" {\n  value = mailhost_mailbox.staff[\"jane\"].quota.free\n}\n", "There is no attribute free"},
		{"reference to a type", "output \"a\" {\n  value = data.mailhost_acount.this.id\n}\n", "The provider has no data mailhost_acount"},
		{"function", "output \"a\" {\n  value = provider::mailhost::spv(\"a\")\n}\n", "The provider has no function spv"},
		{"meta-argument", "resource \"mailhost_mailbox\" \"jane\" {\n  for_eech = {}\n" + mailbox + "}\n", "Unsupported argument"},
		{"list", "list \"mailhost_mailbox\" \"all\" {\n  provider = mailhost\n\n  config {\n    name = \"jane\"\n  }\n}\n", "Unsupported argument"},
		{"list without config", "list \"mailhost_mailbox\" \"all\" {\n  provider = mailhost\n  search   = \"jane\"\n}\n", "Unsupported argument"},
	} {
		var found strings.Builder
		for _, d := range c.problems(t.Context(), test.name, test.text) {
			found.WriteString(d.Summary + ": " + d.Detail + "\n")
		}
		if !strings.Contains(found.String(), test.want) {
			t.Errorf("%s: found %q, want %s", test.name, found.String(), test.want)
		}
	}
	whole := "resource \"mailhost_mailbox\" \"jane\" {\n  for_each = var.all\n" + mailbox + "\n  lifecycle {\n    ignore_changes = [first_name]\n  }\n}\n"
	if diags := c.problems(t.Context(), "whole", whole); diags.HasErrors() {
		t.Error(diags)
	}
}
