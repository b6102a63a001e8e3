package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// guideBlocks returns the configurations in a guide, and its CSV files.
func guideBlocks(t *testing.T, guide string, configurations int) (terraform, csv []string) {
	t.Helper()
	text := read(t, filepath.Join(root, "docs", "guides", guide))
	for _, block := range regexp.MustCompile("(?ms)^```(terraform|csv)\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		if block[1] == "csv" {
			csv = append(csv, block[2])
		} else {
			terraform = append(terraform, block[2])
		}
	}
	assert.Assert(t, len(terraform) == configurations, "%s has %d configurations, and the test knows %d", guide, len(terraform), configurations)
	return terraform, csv
}

// TestAccLargeAccount follows the guide for large accounts. Mailboxes with the department
// as a key move to stable keys and into a set, without a change to the account.
func TestAccLargeAccount(t *testing.T) {
	w := newWorkspace(t)
	blocks, files := guideBlocks(t, "large-accounts.md", 4)
	people, set, _ := strings.Cut(blocks[0], "\nresource ")
	set = "resource " + set
	single, moved, intoSet := blocks[1], blocks[2], blocks[3]
	csv := files[0]

	step := func(config, want string) {
		t.Helper()
		w.write(t, "people.tf", people+config)
		w.must(t, "init")
		assert.Check(t, is.Contains(w.must(t, "apply", "-auto-approve"), "Resources: "+want), "the apply is not %q", want)
	}
	assert.NilError(t, os.MkdirAll(filepath.Join(w.dir, "modules", "mailboxes"), 0o700))
	w.write(t, "modules/mailboxes/main.tf", departmentModule)
	w.write(t, "main.tf", accountWithDomain)
	w.write(t, "mailboxes.csv", csv)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")

	step(departments, "2 added, 0 changed, 0 destroyed")
	step(single+moved+strings.NewReplacer("Sales", "Support", "jane.doe", "john.roe").Replace(moved), "0 added, 0 changed, 0 destroyed")
	step(set+intoSet, "1 imported, 0 added, 0 changed, 0 destroyed")
	step(set, "0 added, 0 changed, 0 destroyed")
	w.planIsEmpty(t)

	w.write(t, "mailboxes.csv", strings.Replace(csv, "Doe,Sales", "Doe,Support", 1))
	w.planIsEmpty(t)
}

// TestAccImportDomain follows the import guide: two blocks, and the configuration that the CLI
// writes for them.
func TestAccImportDomain(t *testing.T) {
	w := newWorkspace(t)
	_, guide, _ := strings.Cut(read(t, filepath.Join(root, "docs", "guides", "import.md")), "## Import a domain")
	imports := regexp.MustCompile("(?ms)^```terraform\n(.*?)^```$").FindStringSubmatch(guide)
	w.write(t, "main.tf", accountWithDomain)
	w.write(t, "people.tf", twoMailboxes)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.must(t, "state", "rm", "mailhost_mailbox.jane", "mailhost_mailbox.zoe")

	w.write(t, "people.tf", imports[1])
	w.must(t, "plan", "-generate-config-out=imported.tf")
	assert.Check(t, is.Contains(w.must(t, "apply", "-auto-approve"), "Resources: 2 imported, 0 added, 0 changed, 0 destroyed"), "the import is not without changes")
	w.planIsEmpty(t)
}

const (
	accountWithDomain = embedded + `
resource "mailhost_domain" "main" {
  name = "example.com"
  ` + contact + `}
`
	// departments has keys that change.
	departments = `
module "department" {
  source   = "./modules/mailboxes"
  for_each = { for p in local.people : p.department => p... }

  domain = mailhost_domain.main.name
  people = each.value
}
`
	departmentModule = requiredProvider + `
variable "domain" {
  type = string
}

variable "people" {
  type = list(object({ local_part = string, first_name = string, last_name = string }))
}

resource "mailhost_mailbox" "this" {
  for_each = { for p in var.people : p.local_part => p }

  domain     = var.domain
  local_part = each.key
  first_name = each.value.first_name
  last_name  = each.value.last_name
}
`
	twoMailboxes = `
resource "mailhost_mailbox" "jane" {
  domain     = mailhost_domain.main.name
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}

resource "mailhost_mailbox" "zoe" {
  domain     = mailhost_domain.main.name
  local_part = "zoe"
  first_name = "Zoë"
  last_name  = "O'Neill \"Jr.\""
}
`
)
