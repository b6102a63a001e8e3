package examples_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// valuables are blocks of what holds mail or money, the summary of the error about each, and
// what else the configuration needs.
var valuables = map[string]struct{ resource, arguments, summary, other string }{
	"domain":  {"mailhost_domain", contact + `name = "acme.com"`, "The domain acme.com exists already", ""},
	"mailbox": {"mailhost_mailbox", "domain = mailhost_domain.net.name\n  local_part = \"jane\"\n  first_name = \"Jane\"\n  last_name  = \"Doe\"", "The mailbox jane@acme.net exists already", "resource \"mailhost_domain\" \"net\" {\n  " + contact + "name = \"acme.net\"\n}\n"},
}

// TestAccObjectIsNotLost applies the plans that would delete a mailbox or a domain for a new one, because
// its block was renamed, repeated or replaced, or is tainted: each is refused with one error, whether
// the block adopts what exists or not.
func TestAccObjectIsNotLost(t *testing.T) {
	for kind, d := range valuables {
		t.Run(kind, func(t *testing.T) {
			w := newWorkspace(t)
			block := func(name, onExisting string) string {
				return "resource \"" + d.resource + "\" \"" + name + "\" {\n  " + d.arguments + "\n  " + onExisting + "\n}\n"
			}
			w.write(t, "main.tf", embedded+d.other+block("a", ""))
			w.must(t, "init")
			w.must(t, "apply", "-auto-approve")
			refused := func(args ...string) {
				t.Helper()
				out, code := w.run(t, append([]string{"apply", "-auto-approve"}, args...)...)
				text := unwrapped(out)
				assert.Check(t, code == 1 && strings.Contains(text, "Error: "+d.summary) && strings.Count(text, "Error: ") == 1 && strings.Contains(text, "moved block"), "%s %q:\n%s", kind, args, out)
			}
			for _, adopts := range []string{"", `on_existing = "adopt"`} {
				t.Log(adopts)
				w.write(t, "main.tf", embedded+d.other+block("b", adopts))
				refused()
				w.write(t, "main.tf", embedded+d.other+block("a", "")+block("b", adopts))
				refused()
				w.write(t, "main.tf", embedded+d.other+block("a", adopts))
				refused("-replace=" + d.resource + ".a")
				w.must(t, "taint", d.resource+".a")
				refused()
				// Without a refresh only the delete knows that the plan adopts the object.
				out, code := w.run(t, "apply", "-auto-approve", "-refresh=false")
				text := unwrapped(out)
				assert.Check(t, code == 1 && (strings.Contains(text, "Error: "+d.summary) || adopts != "" && strings.Contains(text, "was not deleted")), "tainted, without a refresh:\n%s", out)
				w.must(t, "untaint", d.resource+".a")
			}
			w.write(t, "main.tf", embedded+d.other+block("a", ""))
			w.must(t, "apply", "-auto-approve")
			w.planIsEmpty(t)
		})
	}
}

// TestAccHandOver hands mailboxes of a set over to a single resource and to another set, which adopt them
// in the same apply, and refuses a tainted set that would adopt its own mailboxes.
func TestAccHandOver(t *testing.T) {
	w := newWorkspace(t)
	const names = ` = { first_name = "Jane", last_name = "Doe" }`
	domain := embedded + "resource \"mailhost_domain\" \"a\" {\n  " + contact + "name = \"acme.com\"\n}\n"
	set := func(name, arguments string, keys ...string) string {
		text := "resource \"mailhost_mailbox_set\" \"" + name + "\" {\n  domain = mailhost_domain.a.name\n  " + arguments + "\n  mailboxes = {\n"
		for _, key := range keys {
			text += "    " + key + names + "\n"
		}
		return text + "  }\n}\n"
	}
	w.write(t, "main.tf", domain+set("a", "", "ann", "bob", "cid"))
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	const adopt = `on_existing = "adopt"`
	w.write(t, "main.tf", domain+set("a", `retired = { ann = "keep", bob = "keep" }`, "cid")+set("b", adopt, "bob")+
		"resource \"mailhost_mailbox\" \"ann\" {\n  domain = mailhost_domain.a.name\n  local_part = \"ann\"\n  first_name = \"Jane\"\n  last_name = \"Doe\"\n  "+adopt+"\n}\n")
	out := w.must(t, "apply", "-auto-approve")
	assert.Check(t, strings.Contains(unwrapped(out), "2 added, 1 changed, 0 destroyed"), "%s", out)
	w.planIsEmpty(t)

	w.write(t, "main.tf", domain+set("a", adopt+"\n  max_deletions = 9", "ann", "bob", "cid"))
	w.must(t, "state", "rm", "mailhost_mailbox.ann", "mailhost_mailbox_set.b")
	w.must(t, "apply", "-auto-approve")
	w.must(t, "taint", "mailhost_mailbox_set.a")
	w.refused(t, []string{"apply", "-auto-approve"}, "was not deleted", "Nothing was deleted", "terraform untaint")
	w.must(t, "untaint", "mailhost_mailbox_set.a")
	w.planIsEmpty(t)
	w.destroy(t) // the refused delete does not stop a later one
}
