package examples_test

import (
	"os"
	"os/exec"
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
	assert.Check(t, err == nil && len(left) == 0, "the tests left %v (%v)", left, err)

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

// TestAccGoTestsOutside runs the Go tests that the guide on testing shows, in a module outside this
// repository: package apiservertest with a client, with terraform-plugin-testing and with
// terraform-exec. Their dependencies are those of this module, so nothing is downloaded.
func TestAccGoTestsOutside(t *testing.T) {
	w := newWorkspace(t)
	assert.NilError(t, copyConfig(w.dir, "testdata/outside"))
	repository, err := filepath.Abs(root)
	assert.NilError(t, err)
	const module = "github.com/mailhost/terraform-provider-mailhost"
	gomod := strings.Replace(read(t, root+"/go.mod"), "module "+module, "module example.com/mail", 1)
	w.write(t, "go.mod", gomod+"\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+repository+"\n")
	w.write(t, "go.sum", read(t, root+"/go.sum"))
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		assert.NilError(t, err)
		w.set(name, strings.TrimSpace(string(value)))
	}
	w.set("GOPROXY", "off")
	w.set("GOFLAGS", "-mod=mod -trimpath")
	w.set("TF_ACC", "1")
	w.set("PATH", filepath.Dir(w.cli)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, code := w.command(t, "go", "test", "-v", ".")
	assert.Check(t, code == 0 && strings.Count(out, "--- PASS") == 4, "the tests ended with %d:\n%s", code, out)
}

// TestListing checks that examples/README.md lists exactly the existing folders, and that
// each whole configuration has a README.
func TestListing(t *testing.T) {
	t.Parallel()
	listing := read(t, filepath.Join(examples, "README.md"))
	entries, err := os.ReadDir(examples)
	assert.NilError(t, err)
	for _, e := range entries {
		link := "[" + e.Name() + "](" + e.Name() + ")"
		assert.Check(t, !e.IsDir() || strings.Contains(listing, link), "examples/README.md does not list %s", link)
	}
	whole, _, ok := strings.Cut(listing, "Single pieces")
	assert.Assert(t, ok, "examples/README.md has no list of single pieces")
	for line := range strings.Lines(listing) {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "| ["), "]")
		if !strings.HasPrefix(line, "| [") || !ok {
			continue
		}
		_, err := os.Stat(filepath.Join(examples, name))
		assert.Check(t, err, "examples/README.md lists a missing folder")
		_, err = os.Stat(filepath.Join(examples, name, "README.md"))
		assert.Check(t, err == nil || !strings.Contains(whole, line), "examples/%s has no README.md", name)
	}
}
