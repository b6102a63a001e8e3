package walkthrough_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// faultConfig has mailboxes in an embedded account, whose folder is data.
const faultConfig = `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

variable "mailboxes" {
  type = number
}

provider "mailhost" {
  embedded = { data_dir = "data" }
}

resource "mailhost_domain" "this" {
  name = "fault-example.com"
  contact_info = {
    first_name = "Jane", last_name = "Doe", organization = "Example", email = "jane@example.net", phone = "+4922112345"
    address_1  = "Hauptstr. 1", city = "Köln", state = "NRW", zip = "50667", country = "DE"
  }
}

resource "mailhost_mailbox" "this" {
  count      = var.mailboxes
  domain     = mailhost_domain.this.name
  local_part = "m${count.index}"
  first_name = "Jane"
  last_name  = "Doe"
}
`

// embeddedFault is what happens to the files of an embedded account.
type embeddedFault struct {
	name string
	// mailboxes is how many the configuration has then; 0: faultMailboxes.
	mailboxes int
	// setUp prepares the workspace before the fault, and may return mend.
	setUp func(t *testing.T, w *workspace) (mend func(dataDir) error)
	// after is how many lines about resources an apply has printed when the fault happens;
	// 0: it happens before the apply.
	after   int
	inflict func(d dataDir) error
	// mend repairs what has happened. Nil: the folder is restored from a copy, which was made
	// before the apply.
	mend func(d dataDir) error
	// wants are parts of the apply's error; nil: there is none.
	wants []string
}

// The mailboxes before and after the apply that meets a fault.
const (
	firstMailboxes = 5
	faultMailboxes = 60
)

// dataDir is the folder of an embedded account.
type dataDir string

func (d dataDir) path() string { return filepath.Join(string(d), "mailhost.db") }
func (d dataDir) away() string { return string(d) + ".away" }
func (d dataDir) file() string { return d.path() + ".away" }
func (d dataDir) leave() error { return os.Rename(string(d), d.away()) }
func (d dataDir) back() error {
	return errors.Join(os.RemoveAll(string(d)), os.Rename(d.away(), string(d)))
}
func (d dataDir) remove() error { return os.Remove(d.path()) }

// cut truncates the file in the middle of a page.
func (d dataDir) cut() error { return os.Truncate(d.path(), 100_000) }

func (d dataDir) overwrite() error {
	return os.WriteFile(d.path(), bytes.Repeat([]byte("no database\n"), 10_000), 0o600)
}

func nothing(dataDir) error { return nil }

var otherAccount = []string{"The state belongs to another account", "data", "Restore the data directory of the state"}

// failed returns what the error of an apply says whose account has failed in its middle.
func failed(what, next string) []string {
	return []string{"The embedded account failed", "data/mailhost.db " + what, next, "Repair what it names, and run apply again"}
}

var embeddedFaults = []embeddedFault{
	{name: "truncated", inflict: dataDir.cut, wants: []string{"data/mailhost.db: it is damaged; restore a backup"}},
	{name: "emptied", inflict: func(d dataDir) error { return os.Truncate(d.path(), 0) }, wants: otherAccount},
	{name: "text over it", inflict: dataDir.overwrite, wants: []string{"data/mailhost.db: it is not an SQLite database; choose another path, or restore a backup"}},
	{name: "removed", inflict: dataDir.remove, wants: otherAccount},
	{name: "the folder is moved", inflict: dataDir.leave, mend: dataDir.back, wants: otherAccount},
	{
		name:    "a file in place of the folder",
		inflict: func(d dataDir) error { return errors.Join(d.leave(), os.WriteFile(string(d), nil, 0o600)) },
		mend:    dataDir.back,
		wants:   []string{"data can't be used: mkdir data: not a directory", "embedded.data_dir"},
	},
	{
		name:    "a folder in place of the file",
		inflict: func(d dataDir) error { return errors.Join(os.Rename(d.path(), d.file()), os.Mkdir(d.path(), 0o700)) },
		mend:    func(d dataDir) error { return errors.Join(os.Remove(d.path()), os.Rename(d.file(), d.path())) },
		wants:   []string{"data/mailhost.db", "it is a directory; name a file in it"},
	},
	{
		name:    "the folder is a link",
		inflict: func(d dataDir) error { return errors.Join(d.leave(), os.Symlink(filepath.Base(d.away()), string(d))) },
		mend:    nothing,
	},
	{
		name: "the file is a link",
		inflict: func(d dataDir) error {
			return errors.Join(os.Rename(d.path(), d.file()), os.Symlink(filepath.Base(d.file()), d.path()))
		},
		mend: nothing,
	},
	{
		name: "another process writes", mailboxes: firstMailboxes + 1, setUp: holdLock,
		inflict: nothing,
		wants:   []string{"another process has been writing to", "data/mailhost.db", "try again"},
	},
	{
		name: "touched in mid-apply", after: 30,
		inflict: func(d dataDir) error { return os.Chtimes(d.path(), time.Time{}, time.Now()) },
		mend:    nothing,
	},
	{
		name: "moved in mid-apply", after: 30,
		inflict: func(d dataDir) error { return os.Rename(d.path(), d.file()) },
		mend:    func(d dataDir) error { return os.Rename(d.file(), d.path()) },
		wants:   failed("was removed or moved while it was open", "put it back"),
	},
	{name: "the folder is moved in mid-apply", after: 30, inflict: dataDir.leave, mend: dataDir.back, wants: failed("was removed or moved while it was open", "put it back")},
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
			if err := os.CopyFS(w.dir, os.DirFS(base.dir)); err != nil {
				t.Fatal(err)
			}
			w.testFault(t, f, dataDir(filepath.Join(w.dir, "data")), dataDir(filepath.Join(base.dir, "data")))
		})
	}
}

func (w *workspace) testFault(t *testing.T, f embeddedFault, data, backup dataDir) {
	t.Helper()
	mailboxes := faultMailboxes
	if f.mailboxes > 0 {
		mailboxes = f.mailboxes
	}
	w.set("TF_VAR_mailboxes", fmt.Sprint(mailboxes))
	if f.setUp != nil {
		if mend := f.setUp(t, w); mend != nil {
			f.mend = mend
		}
	}
	inflict := func() {
		if err := f.inflict(data); err != nil {
			t.Error(err)
		}
	}
	if f.after == 0 {
		inflict()
	}
	out, _ := w.applyDuring(t, f.after, func(*os.Process, <-chan struct{}) { inflict() })
	text := unwrapped(out)
	if complete := strings.Contains(text, "Apply complete!"); complete != (f.wants == nil) {
		t.Errorf("complete: %t\n%s", complete, out)
	}
	for _, want := range f.wants {
		if n := strings.Count(text, want); n == 0 || n > 1 && strings.HasPrefix(want, "Repair") {
			t.Errorf("the output has %q %d times:\n%s", want, n, out)
		}
	}
	acknowledged := w.ids(t)
	mend, isRestored := f.mend, f.mend == nil
	if isRestored {
		mend = func(d dataDir) error {
			return errors.Join(os.RemoveAll(string(d)), os.CopyFS(string(d), os.DirFS(string(backup))))
		}
	}
	if err := mend(data); err != nil {
		t.Fatal(err)
	}
	if out = w.must(t, "apply", "-auto-approve", "-no-color"); !strings.Contains(out, " 0 changed, 0 destroyed") {
		t.Errorf("the apply after the repair changes what exists:\n%s", out)
	}
	w.planIsEmpty(t)
	after := w.ids(t)
	if len(after) != mailboxes+1 {
		t.Errorf("the state has %d objects, want %d", len(after), mailboxes+1)
	}
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
	if err := json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "terraform.tfstate"))), &state); err != nil {
		t.Fatal(err)
	}
	ids, seen := map[string]string{}, map[string]bool{}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			object := r.Type + " " + i.Attributes.ID
			if r.Mode == "managed" && seen[object] {
				t.Errorf("two resources have %s", object)
			}
			ids[fmt.Sprint(r.Type, i.IndexKey)], seen[object] = i.Attributes.ID, true
		}
	}
	return ids
}

// holdLock begins a transaction on the account's file, as another process that writes to
// it, until mend is called.
func holdLock(t *testing.T, w *workspace) (mend func(dataDir) error) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dataDir(filepath.Join(w.dir, "data")).path(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Update(context.Background(), func(store.Tx) error {
			close(begun)
			<-release
			return nil
		})
	}()
	<-begun
	return func(dataDir) error {
		close(release)
		return errors.Join(<-ended, db.Close())
	}
}
