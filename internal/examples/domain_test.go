package examples_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// domains returns a configuration with domains; blocks alternates names and arguments.
func domains(blocks ...string) string {
	text := embedded
	for i := 0; i < len(blocks); i += 2 {
		text += "resource \"mailhost_domain\" \"" + blocks[i] + "\" {\n  " + contact + blocks[i+1] + "\n}\n"
	}
	return text
}

// owned returns the id of each domain of the account by name.
func owned(t *testing.T, w *workspace) map[string]string {
	t.Helper()
	lister := *w
	lister.dir = t.TempDir()
	lister.write(t, "main.tf", strings.Replace(domains(), "embedded = {}", "embedded = { data_dir = \""+filepath.ToSlash(filepath.Join(w.dir, ".mailhost"))+"\" }", 1)+
		"data \"mailhost_domains\" \"all\" {}\noutput \"owned\" {\n  value = { for d in data.mailhost_domains.all.domains : d.name => d.id }\n}\n")
	lister.must(t, "init")
	lister.must(t, "apply", "-auto-approve")
	var out map[string]struct{ Value map[string]string }
	assert.NilError(t, json.Unmarshal([]byte(lister.must(t, "output", "-json")), &out))
	return out["owned"].Value
}

// TestDomainIsNotLost checks that no plan deletes a domain by replacing, renaming or
// repeating it: with and without create_before_destroy, with a rename without a moved block,
// and with two blocks for one domain.
func TestDomainIsNotLost(t *testing.T) {
	w := newWorkspace(t)
	begin := domains("a", `name = "acme.com"`)
	w.write(t, "main.tf", begin)
	w.must(t, "init")
	out := unwrapped(w.must(t, "apply", "-auto-approve"))
	for _, want := range []string{"The plan buys the domain acme.com", "does not own acme.com", "The price is 12.00 USD.", `acquisition = "purchase"`} {
		assert.Check(t, strings.Contains(out, want), "%q is missing in %s", want, out)
	}
	before := owned(t, w)
	assert.Assert(t, len(before) == 1 && before["acme.com"] != "", "the account owns %v", before)
	lost := []string{"The domain acme.com exists already", "terraform untaint", "moved block", "Nothing was bought, created or changed"}

	first := `name = "acme.com"` + "\n  lifecycle {\n    create_before_destroy = true\n  }"
	for name, text := range map[string]string{
		"its own":          domains("a", first),
		"destroyed before": begin,
	} {
		t.Log(name)
		w.write(t, "main.tf", text)
		w.refused(t, []string{"apply", "-auto-approve", "-replace=mailhost_domain.a"}, lost...)
		w.refused(t, []string{"apply", "-auto-approve", "-refresh=false", "-replace=mailhost_domain.a"}, lost...)
		w.must(t, "taint", "mailhost_domain.a")
		w.refused(t, []string{"apply", "-auto-approve"}, lost...)
		w.must(t, "untaint", "mailhost_domain.a")
	}
	// -refresh=false hides a taint from the provider.
	w.write(t, "main.tf", domains("a", first))
	w.must(t, "apply", "-auto-approve")
	w.must(t, "taint", "mailhost_domain.a")
	w.refused(t, []string{"apply", "-auto-approve", "-refresh=false"}, "The domain acme.com exists already", "Nothing was bought")
	w.must(t, "state", "rm", "mailhost_domain.a")
	w.write(t, "main.tf", begin)
	w.must(t, "import", "mailhost_domain.a", "acme.com")
	w.must(t, "apply", "-auto-approve")

	// A rename without and with a moved block.
	w.write(t, "main.tf", domains("b", `name = "acme.com"`))
	w.refused(t, []string{"apply", "-auto-approve"}, "acme.com", "moved block")
	w.write(t, "main.tf", domains("b", `name = "acme.com"`)+"moved {\n  from = mailhost_domain.a\n  to   = mailhost_domain.b\n}\n")
	w.must(t, "apply", "-auto-approve")

	// Two blocks for one domain: both new, then one existing.
	w.write(t, "main.tf", domains("b", `name = "acme.com"`, "c", "for_each = toset([\"Twice.com\", \"twice.com.\"])\n  name = each.key"))
	w.refused(t, []string{"apply", "-auto-approve"}, "wice.com", service.ExistingGuide)
	w.write(t, "main.tf", domains("b", `name = "acme.com"`, "c", `name = "ACME.com."`))
	w.refused(t, []string{"apply", "-auto-approve"}, "The domain acme.com exists already", service.ExistingGuide)
	// The domain is in the state twice, and one block is removed.
	w.must(t, "import", "mailhost_domain.c", "acme.com")
	w.write(t, "main.tf", domains("c", `name = "ACME.com."`))
	w.refused(t, []string{"apply", "-auto-approve"}, "Two resources have the domain", service.ExistingGuide)

	after := owned(t, w)
	assert.Check(t, len(after) == 1 && after["acme.com"] == before["acme.com"], "the account owns %v, and owned %v", after, before)
}

// TestPurchaseAsPlanned checks that a saved plan buys a domain only at the price that it has
// shown, and only in its account.
func TestPurchaseAsPlanned(t *testing.T) {
	w := newWorkspace(t)
	account := func(id, price string) {
		t.Helper()
		w.write(t, "account.json", `{"accounts": [{"id": "00000000-0000-4000-8000-00000000acc`+id+`"}], "registrar": {"prices": {"com": "`+price+`"}}}`)
	}
	w.write(t, "main.tf", strings.Replace(domains("a", `name = "acme.com"`), "embedded = {}", `embedded = { fixture = "account.json" }`, 1))
	account("1", "12.00")
	w.must(t, "init")
	assert.Check(t, is.Contains(unwrapped(w.must(t, "plan", "-out=saved")), `purchase_price = "12.00 USD"`), "the plan does not show the price")
	account("1", "99.00")
	w.refused(t, []string{"apply", "saved"}, "inconsistent final plan", "12.00 USD", "99.00 USD")
	names := w.must(t, "state", "list")
	assert.Check(t, strings.TrimSpace(names) == "", "the state has %s", names)
	account("1", "12.00")
	w.must(t, "plan", "-out=saved")
	account("2", "12.00")
	assert.NilError(t, os.RemoveAll(filepath.Join(w.dir, ".mailhost")))
	w.refused(t, []string{"apply", "saved"}, "inconsistent final plan", "workspace_id")
	w.must(t, "plan", "-out=saved")
	w.must(t, "apply", "saved")
	w.planIsEmpty(t)
}

// TestAccCompanyDomain applies examples/company-domain, makes the changes of its README,
// and destroys it.
func TestAccCompanyDomain(t *testing.T) {
	w := enter(t, "company-domain")
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)

	var policy struct{ URL, Text string }
	assert.NilError(t, json.Unmarshal([]byte(w.must(t, "output", "-json", "mta_sts_policy")), &policy))
	assert.Check(t, policy.URL == "https://mta-sts.example.com/.well-known/mta-sts.txt" && strings.HasPrefix(policy.Text, "version: STSv1\r\nmode: testing\r\n"), "the policy is %+v", policy)

	// The order of the lines and the case of an address are insignificant.
	csv := read(t, filepath.Join(w.dir, "mailboxes.csv"))
	head, rows, _ := strings.Cut(csv, "\n")
	w.write(t, "mailboxes.csv", head+"\n"+strings.ToUpper("new.hire")+",New,Hire\n"+strings.Replace(rows, "jane.doe,Jane,Doe", "Jane.Doe,Jane,Roe", 1))
	out := w.must(t, "apply", "-auto-approve")
	if !strings.Contains(out, "0 added, 1 changed, 0 destroyed") || !strings.Contains(out, "new.hire") || !strings.Contains(out, `"Roe"`) {
		t.Errorf("a new line and a new name do not change the set:\n%s", out)
	}
	w.planIsEmpty(t)

	t.Run("export", func(t *testing.T) { exported(t, w) })
	t.Run("what is refused", func(t *testing.T) { refusedMailboxes(t, w, head, rows) })
	t.Run("master password", func(t *testing.T) { masterPassword(t, w) })

	w.refused(t, []string{"destroy", "-auto-approve"}, "max_deletions")
	all := "-var=max_mailbox_deletions=8"
	w.must(t, "apply", "-auto-approve", all)
	w.destroy(t, all)
}

// exported writes the account as another configuration, whose plan only imports, and is empty
// after the apply.
func exported(t *testing.T, w *workspace) {
	original, folder := w.dir, filepath.Join(t.TempDir(), "account")
	out, code := w.command(t, mailhostd(), "export", "--database", ".mailhost/mailhost.db", "--hcl", folder, "--no-json")
	assert.Assert(t, code == 0 && strings.Contains(out, "9 mailboxes"), "the export ended with %d:\n%s", code, out)
	outer := w.env
	w.dir = folder
	defer func() { w.dir, w.env = original, outer }()
	w.set("MAILHOST_DATA_DIR", filepath.Join(original, ".mailhost"))
	w.must(t, "fmt", "-check")
	w.must(t, "init")
	assert.Check(t, is.Contains(w.must(t, "apply", "-auto-approve"), "imported, 0 added, 0 changed, 0 destroyed"), "the plan of an export does not only import")
	w.planIsEmpty(t)
}

// refusedMailboxes checks that the module refuses invalid input.
func refusedMailboxes(t *testing.T, w *workspace, head, rows string) {
	defer w.write(t, "mailboxes.csv", head+"\n"+rows)
	w.write(t, "mailboxes.csv", head+"\n"+rows+"Office,Another,Office\n")
	w.refused(t, []string{"plan"}, "Each local_part may occur once, whether in upper or lower case. Repeated: office (2 times).")
	w.write(t, "mailboxes.csv", "local_part,first_name\noffice,Front\n")
	w.refused(t, []string{"plan"}, `"last_name" is required`)
	w.write(t, "mailboxes.csv", head+"\n"+rows)
	deletes := "-var=max_mailbox_deletions=1" // new.hire
	w.refused(t, []string{"plan", deletes, `-var=forwarding={"typo":"ofice@example.com"}`}, "ofice@example.com is none of the mailboxes")
	w.refused(t, []string{"plan", deletes, `-var=forwarding={"typo":"office"}`}, "office")
	w.refused(t, []string{"plan", deletes, "-var=master_password_version=1"}, "A master password without a secret")
}

// masterPassword creates a master password and replaces it.
func masterPassword(t *testing.T, w *workspace) {
	w.refused(t, []string{"apply", "-auto-approve"}, "new.hire@example.com", "max_deletions")
	w.must(t, "apply", "-auto-approve", "-var=max_mailbox_deletions=1") // the original rows
	w.must(t, "apply", "-auto-approve")
	for i, secret := range []string{"correct-horse-battery-staple", "another-horse-battery-staple"} {
		version := strconv.Itoa(i + 1)
		args := []string{"-var=master_password=" + secret, "-var=master_password_version=" + version}
		out := w.must(t, append([]string{"apply", "-auto-approve"}, args...)...)
		assert.Check(t, strings.Contains(out, "1 added, 0 changed"), "version %s does not create a new master password:\n%s", version, out)
		w.planIsEmpty(t, args...)
		w.planIsEmpty(t, args[1:]...) // later plans need only the version
		state := read(t, filepath.Join(w.dir, "terraform.tfstate"))
		assert.Check(t, !strings.Contains(out+state, secret), "the secret is in the output or in the state")
	}
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
}
