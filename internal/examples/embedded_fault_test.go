package examples_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// faultConfig has mailboxes in an embedded account, whose folder is data.
const faultConfig = requiredProvider + `
variable "mailboxes" {
  type = number
}

provider "mailhost" {
  embedded = { data_dir = "data" }
}

resource "mailhost_domain" "this" {
  name = "fault-example.com"
  ` + contact + `}

resource "mailhost_mailbox" "this" {
  count      = var.mailboxes
  domain     = mailhost_domain.this.name
  local_part = "m${count.index}"
  first_name = "Jane"
  last_name  = "Doe"
}
`

// The mailboxes before and after the apply that meets a fault.
const (
	firstMailboxes = 5
	faultMailboxes = 60
)

// embeddedFault is what happens to the file of an embedded account.
type embeddedFault struct {
	name string
	// after is how many lines about resources an apply has printed when the fault happens;
	// 0: it happens before the apply.
	after   int
	inflict func(file string) error
	// mend repairs what has happened. Nil: the folder is restored from a copy, which was made
	// before the apply.
	mend func(file string) error
	// wants are parts of the apply's error; nil: there is none.
	wants []string
}

func moveAway(file string) error { return os.Rename(file, file+".away") }
func moveBack(file string) error { return os.Rename(file+".away", file) }
func nothing(string) error       { return nil }

var embeddedFaults = []embeddedFault{
	{
		name:    "truncated",
		inflict: func(file string) error { return os.Truncate(file, 100_000) }, // in the middle of a page
		wants:   []string{"data/mailhost.db: it is damaged; restore a backup"},
	},
	{name: "removed", inflict: os.Remove, wants: []string{"The state belongs to another account", "data", "Restore the data directory of the state"}},
	{
		name:    "a folder in place of the file",
		inflict: func(file string) error { return errors.Join(moveAway(file), os.Mkdir(file, 0o700)) },
		mend:    func(file string) error { return errors.Join(os.Remove(file), moveBack(file)) },
		wants:   []string{"data/mailhost.db", "it is a directory; name a file in it"},
	},
	{
		name: "the file is a link",
		inflict: func(file string) error {
			return errors.Join(moveAway(file), os.Symlink(filepath.Base(file)+".away", file))
		},
		mend: nothing,
	},
	{
		name: "touched in mid-apply", after: 30,
		inflict: func(file string) error { return os.Chtimes(file, time.Time{}, time.Now()) },
		mend:    nothing,
	},
	{
		name: "moved in mid-apply", after: 30, inflict: moveAway, mend: moveBack,
		wants: []string{"The embedded account failed", "data/mailhost.db was removed or moved while it was open", "put it back", "Repair what it names, and run apply again"},
	},
}

// TestEmbeddedFaults applies through a fault of an embedded account's files. The error
// names the file, what has happened to it, and what to do; it comes soon and once for all
// objects; and after the repair everything of the state is there, and an apply does the rest.
func TestEmbeddedFaults(t *testing.T) {
	needsShell(t)
	base := newWorkspace(t)
	base.write(t, "main.tf", faultConfig)
	base.set("TF_DATA_DIR", filepath.Join(base.dir, ".terraform"))
	base.must(t, "init")
	base.must(t, "apply", "-auto-approve", fmt.Sprintf("-var=mailboxes=%d", firstMailboxes))
	for _, f := range embeddedFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			w := &workspace{dir: filepath.Join(t.TempDir(), "w"), cli: base.cli, env: append([]string{}, base.env...)}
			assert.NilError(t, os.CopyFS(w.dir, os.DirFS(base.dir)))
			w.testFault(t, f, filepath.Join(base.dir, "data"))
		})
	}
}

func (w *workspace) testFault(t *testing.T, f embeddedFault, backup string) {
	t.Helper()
	data := filepath.Join(w.dir, "data")
	file := filepath.Join(data, "mailhost.db")
	w.set("TF_VAR_mailboxes", fmt.Sprint(faultMailboxes))
	inflict := func() {
		assert.Check(t, f.inflict(file))
	}
	if f.after == 0 {
		inflict()
	}
	out := w.applyDuring(t, f.after, func(*os.Process) { inflict() })
	text := unwrapped(out)
	complete := strings.Contains(text, "Apply complete!")
	assert.Check(t, complete == (f.wants == nil), "complete: %t\n%s", complete, out)
	for _, want := range f.wants {
		n := strings.Count(text, want)
		assert.Check(t, n != 0 && (n <= 1 || !strings.HasPrefix(want, "Repair")), "the output has %q %d times:\n%s", want, n, out)
	}
	acknowledged := w.ids(t)
	mend, isRestored := f.mend, f.mend == nil
	if isRestored {
		mend = func(string) error { return errors.Join(os.RemoveAll(data), os.CopyFS(data, os.DirFS(backup))) }
	}
	assert.NilError(t, mend(file))
	if out = w.must(t, "apply", "-auto-approve", "-no-color"); !strings.Contains(out, " 0 changed, 0 destroyed") {
		t.Errorf("the apply after the repair changes what exists:\n%s", out)
	}
	w.planIsEmpty(t)
	after := w.ids(t)
	assert.Check(t, len(after) == faultMailboxes+1, "the state has %d objects, want %d", len(after), faultMailboxes+1)
	for address, id := range acknowledged {
		if after[address] != id && !(isRestored && f.after > 0) { // a backup lacks what came after it
			t.Errorf("%s had the id %s, and after the repair %q", address, id, after[address])
		}
	}
}

// ids returns the ids of the managed objects in the state. It fails the test if two resources
// have one object.
func (w *workspace) ids(t *testing.T) map[string]string {
	t.Helper()
	var state struct {
		Resources []struct {
			Mode, Type string
			Instances  []struct {
				IndexKey   any `json:"index_key"`
				Attributes struct{ ID string }
			}
		}
	}
	assert.NilError(t, json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "terraform.tfstate"))), &state))
	ids, seen := map[string]string{}, map[string]bool{}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			object := r.Type + " " + i.Attributes.ID
			assert.Check(t, r.Mode != "managed" || !seen[object], "two resources have %s", object)
			ids[fmt.Sprint(r.Type, i.IndexKey)], seen[object] = i.Attributes.ID, true
		}
	}
	return ids
}
