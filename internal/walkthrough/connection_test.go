package walkthrough_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// several is a configuration with several independent resources.
const several = `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

resource "mailhost_master_password" "ops" {
  count    = 5
  name     = "ops-${count.index}"
  generate = true
}

resource "mailhost_forwarding" "ops" {
  count        = 5
  target_email = "ops-${count.index}@example.net"
}
`

// oneError runs the CLI. It fails the test unless the command reports a single error that
// contains all of wants.
func (w *workspace) oneError(t *testing.T, args []string, wants ...string) {
	t.Helper()
	out, code := w.run(t, args...)
	text := unwrapped(out)
	if n := strings.Count(out, "Error: "); code != 1 || n != 1 {
		t.Errorf("%s ended with %d and %d errors:\n%s", strings.Join(args, " "), code, n, out)
	}
	for _, want := range append(wants, "") {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not print %q:\n%s", strings.Join(args, " "), want, out)
		}
	}
	if strings.Contains(text, "developer") {
		t.Errorf("the error blames the provider's developers:\n%s", out)
	}
}

// TestLostDataDirectory removes the embedded account, as a fresh checkout in CI does, and
// restores it.
func TestLostDataDirectory(t *testing.T) {
	w := newWorkspace(t)
	w.write(t, "main.tf", several+"\nprovider \"mailhost\" {\n  embedded = {}\n}\n")
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	objects := w.must(t, "state", "list")
	w.must(t, "plan", "-destroy", "-out=saved")
	data, lost := filepath.Join(w.dir, ".mailhost"), filepath.Join(w.dir, "lost")
	if err := os.Rename(data, lost); err != nil {
		t.Fatal(err)
	}
	wants := []string{"The state belongs to another account", data, "MAILHOST_DATA_DIR", "terraform state rm"}
	for _, args := range [][]string{
		{"plan"}, {"plan", "-refresh=false"}, {"plan", "-refresh-only"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"}, {"destroy", "-auto-approve", "-refresh=false"},
	} {
		w.oneError(t, append(args, "-input=false"), wants...)
	}
	w.refused(t, []string{"apply", "saved"}, append(wants, "See the full error")...)
	if left := w.must(t, "state", "list"); left != objects {
		t.Errorf("of the state is left\n%s", left)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(lost, data); err != nil {
		t.Fatal(err)
	}
	w.planIsEmpty(t)
	w.destroy(t)
}

// TestFailedConnection plans against an API that refuses the token, and against an
// unreachable one.
func TestFailedConnection(t *testing.T) {
	w := newWorkspace(t)
	w.write(t, "main.tf", several)
	s := acctest.NewServer(t, acctest.Options{})
	w.set("MAILHOST_BASE_URL", s.URL)
	w.set("MAILHOST_ACCOUNT_ID", s.AccountID)
	w.set("MAILHOST_TOKEN", s.Token)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.set("MAILHOST_TOKEN", s.Token+"x")
	w.oneError(t, []string{"plan"}, "HTTP 401", "Check the credential")
	w.set("MAILHOST_TOKEN", s.Token)
	s.Close()
	begun := time.Now()
	w.oneError(t, []string{"plan"}, "can't be reached", "connection refused", "Check that base_url is right")
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestOwnToken uses the token of a service account of the same configuration in a
// provider block, and rotates it.
func TestOwnToken(t *testing.T) {
	w := newWorkspace(t)
	s := acctest.NewServer(t, acctest.Options{})
	w.write(t, "main.tf", several+`
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
`)
	w.set("MAILHOST_BASE_URL", s.URL)
	w.set("MAILHOST_ACCOUNT_ID", s.AccountID)
	w.set("MAILHOST_TOKEN", s.Token)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
	w.oneError(t, []string{"plan", "-var=rotation=2"}, "Provider setting not known yet", "token in the provider block", "-target=mailhost_service_account.")
	w.must(t, "apply", "-auto-approve", "-var=rotation=2", "-target=mailhost_service_account.ci")
	w.must(t, "apply", "-auto-approve", "-var=rotation=2")
	w.planIsEmpty(t, "-var=rotation=2")
}
