package walkthrough_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
