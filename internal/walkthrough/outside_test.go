package walkthrough_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// TestAccGoTestsOutside runs the Go tests that the guide on testing shows, in a module outside this
// repository: package apiservertest with a client, with terraform-plugin-testing and with
// terraform-exec. Their dependencies are those of this module, so nothing is downloaded.
func TestAccGoTestsOutside(t *testing.T) {
	w := newWorkspace(t)
	assert.NilError(t, localcli.CopyConfig(w.dir, "testdata/outside"))
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
	assert.Check(t, code == 0 && strings.Count(out, "--- PASS") == 3, "the tests ended with %d:\n%s", code, out)
}
