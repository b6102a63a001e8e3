package examples_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccSeveralAccounts applies examples/several-accounts, and tries to import an object
// from the other account.
func TestAccSeveralAccounts(t *testing.T) {
	w := enter(t, "several-accounts")
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)

	type office struct {
		AccountID string `json:"account_id"`
		Domain    string
		Mailboxes map[string]string
	}
	var found map[string]struct{ Value office }
	assert.NilError(t, json.Unmarshal([]byte(w.must(t, "output", "-json")), &found))
	europe, america := found["europe"].Value, found["america"].Value
	if europe.AccountID == america.AccountID || europe.Domain != "example.com" || america.Domain != "example.net" {
		t.Errorf("the offices are %+v and %+v, want two accounts with a domain each", europe, america)
	}
	for _, account := range []string{"europe", "america"} {
		_, err := os.Stat(filepath.Join(w.dir, ".mailhost", account, "mailhost.db"))
		assert.Check(t, err)
	}

	for id, want := range map[string]string{
		"jane.doe@example.com":                   `Can't import "jane.doe@example.com" Mailbox jane.doe@example.com: not found`,
		europe.Mailboxes["jane.doe@example.com"]: "mailhost_mailbox.jane",
	} {
		w.write(t, "import.tf", fmt.Sprintf(importFromEurope, id))
		w.refused(t, []string{"plan"}, want)
	}
	assert.NilError(t, os.Remove(filepath.Join(w.dir, "import.tf")))
	w.planIsEmpty(t)

	// The plan warns of a resource without a provider alias.
	w.write(t, "stray.tf", "resource \"mailhost_service_account\" \"stray\" {\n  name = \"stray\"\n}\n")
	assert.Check(t, is.Contains(w.must(t, "plan"), "Warning: Using an embedded account"), "the plan does not warn of a resource without an account")
	assert.NilError(t, os.Remove(filepath.Join(w.dir, "stray.tf")))
	w.destroy(t)
}

// TestOwnToken uses the token of a service account of the same configuration in a
// provider block, and rotates it.
func TestOwnToken(t *testing.T) {
	w := newWorkspace(t)
	s := acctest.NewServer(t, acctest.Options{})
	w.write(t, "main.tf", requiredProvider+`
variable "rotation" {
  default = "1"
}

provider "mailhost" {
  alias = "owner"
}

resource "mailhost_service_account" "ci" {
  provider          = mailhost.owner
  name              = "ci"
  rotation_triggers = { on = var.rotation }
}

provider "mailhost" {
  token = mailhost_service_account.ci.token
}

resource "mailhost_forwarding" "ops" {
  target_email = "ops@example.net"
}
`)
	w.set("MAILHOST_BASE_URL", s.URL)
	w.set("MAILHOST_ACCOUNT_ID", s.AccountID)
	w.set("MAILHOST_TOKEN", s.Token)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
	w.refused(t, []string{"plan", "-var=rotation=2"}, "Provider setting not known yet", "token in the provider block", "-target=mailhost_service_account.")
	w.must(t, "apply", "-auto-approve", "-var=rotation=2", "-target=mailhost_service_account.ci")
	w.must(t, "apply", "-auto-approve", "-var=rotation=2")
	w.planIsEmpty(t, "-var=rotation=2")
}

const importFromEurope = `import {
  to = mailhost_mailbox.jane
  id = %q
}

resource "mailhost_mailbox" "jane" {
  provider = mailhost.america

  domain     = "example.com"
  local_part = "jane.doe"
  first_name = "Jane"
  last_name  = "Doe"
}
`
