package walkthrough_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAccTerraformTest runs the tests of examples/testing on embedded accounts. The
// environment names a remote account, which they must not reach.
func TestAccTerraformTest(t *testing.T) {
	w := enter(t, "testing")
	w.set("MAILHOST_BASE_URL", "http://127.0.0.1:1")
	w.set("MAILHOST_TOKEN", "of-a-real-account")
	w.must(t, "init")
	w.set("MAILHOST_DATA_DIR", t.TempDir())
	passes(t, w.must(t, "test"), 5)
	passes(t, w.must(t, "test", "-filter=tests/team.tftest.hcl"), 4)           // also with the account of an earlier run
	if out := w.must(t, "version"); !strings.HasPrefix(out, "OpenTofu v1.7") { // it has no mocks
		w.set("MAILHOST_DATA_DIR", t.TempDir())
		passes(t, w.must(t, "test", "-test-directory=tests/mocks"), 2)
	}
	left, err := filepath.Glob(filepath.Join(w.dir, "*.tfstate"))
	assert.Check(t, err == nil && len(left) <= 0, "the tests left %v (%v)", left, err)

	_, err = os.Stat(filepath.Join(w.dir, ".mailhost"))
	assert.Check(t, err != nil, "there is an account outside of the data directory")

	// The tests detect a broken module.
	main := read(t, filepath.Join(w.dir, "main.tf"))
	w.write(t, "main.tf", strings.Replace(main, "last_name  = each.value.last_name", `last_name  = "Doe"`, 1))
	out, code := w.run(t, "test", "-filter=tests/team.tftest.hcl")
	assert.Check(t, code == 1 && strings.Contains(out, `run "change"... fail`), "the tests of a broken module ended with %d:\n%s", code, out)
}

// TestAccTerraformTestStandalone runs the tests that need a server, as the guide says.
func TestAccTerraformTestStandalone(t *testing.T) {
	w := enter(t, "testing")
	w.must(t, "init", "-test-directory=tests/standalone")
	out, code := w.command(t, mailhostd(), "try", "--", w.cli, "test", "-test-directory=tests/standalone")
	assert.Assert(t, code == 0, "the tests ended with %d:\n%s", code, out)
	passes(t, out, 2)
	_, err := os.Stat(filepath.Join(w.dir, ".mailhost"))
	assert.Check(t, err != nil, "the tests used an embedded account")
}

// TestAccParallel runs tests at the same time, on isolated accounts of one server.
func TestAccParallel(t *testing.T) {
	needsShell(t, "curl")
	w := enter(t, "testing")
	w.must(t, "init", "-test-directory=tests/standalone")
	out, code := w.command(t, mailhostd(), "try", "--", "tests/parallel.sh")
	assert.Assert(t, code == 0, "the script ended with %d:\n%s", code, out)
	passes(t, out, 6*2)
}

// TestAccFaults runs the script that makes the API fail.
func TestAccFaults(t *testing.T) {
	needsShell(t, "curl")
	w := enter(t, "testing")
	out, code := w.command(t, mailhostd(), "try", "--", "tests/faults.sh")
	assert.Assert(t, code == 0, "the script ended with %d:\n%s", code, out)
}

// passes fails unless exactly count runs have passed and none has failed.
func passes(t *testing.T, out string, count int) {
	t.Helper()
	got := strings.Count(out, `"... pass`)
	assert.Check(t, got == count && !strings.Contains(out, "... fail") && !strings.Contains(out, "... skip"), "%d runs have passed, want %d:\n%s", got, count, out)
}
