package walkthrough_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAccStableKeys follows the guide for large accounts: mailboxes with the department
// as a key move to stable keys without a change, and a person who then changes department
// keeps the mailbox.
func TestAccStableKeys(t *testing.T) {
	w := newWorkspace(t)
	blocks := regexp.MustCompile("(?ms)^```terraform\n(.*?)^```$").FindAllStringSubmatch(read(t, filepath.Join(root, "docs", "guides", "large-accounts.md")), -1)
	if len(blocks) != 3 {
		t.Fatalf("the guide has %d configurations, want the root module, the module and a moved block", len(blocks))
	}
	stable, module, moved := blocks[0][1], blocks[1][1], blocks[2][1]
	departments := regexp.MustCompile(`module "mailboxes"|substr.*, 2\)`).ReplaceAllStringFunc(stable, func(found string) string {
		if strings.HasPrefix(found, "module") {
			return `module "department"`
		}
		return "p.department"
	})
	if strings.Contains(departments, "md5") || !strings.Contains(departments, "p.department =>") {
		t.Fatalf("the test no longer fits the guide:\n%s", departments)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "modules", "mailboxes"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(t, "modules/mailboxes/main.tf", module)
	w.write(t, "main.tf", accountWithDomain)
	w.write(t, "mailboxes.csv", "local_part,first_name,last_name,department\njane.doe,Jane,Doe,Sales\n")
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")

	w.write(t, "people.tf", departments)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")

	w.write(t, "people.tf", stable+moved)
	w.must(t, "init")
	if out := w.must(t, "apply", "-auto-approve"); !strings.Contains(out, "Resources: 0 added, 0 changed, 0 destroyed") {
		t.Errorf("the move changes the account:\n%s", out)
	}
	w.planIsEmpty(t)

	w.write(t, "mailboxes.csv", "local_part,first_name,last_name,department\njane.doe,Jane,Doe,Support\n")
	w.planIsEmpty(t)
	w.destroy(t)
}

const accountWithDomain = `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

provider "mailhost" {
  embedded = {}
}

resource "mailhost_domain" "main" {
  name = "example.com"
  contact_info = {
    first_name = "Jane", last_name = "Doe", organization = "Example", email = "jane@example.org", phone = "+4930123456",
    address_1  = "Street 1", zip = "10115", city = "Berlin", state = "Berlin", country = "DE",
  }
}
`
