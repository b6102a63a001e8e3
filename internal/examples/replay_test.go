package examples_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAccReplay records a module's life with mailhostd proxy, and repeats it without the server: with the
// same outputs, and without a change in a second plan.
func TestAccReplay(t *testing.T) {
	needsShell(t)
	w := newWorkspace(t)
	assert.NilError(t, copyConfig(w.dir, "testdata/replay"))
	w.must(t, "init")
	recording := filepath.Join(t.TempDir(), "host.yaml")
	run := func(args ...string) map[string]any {
		t.Helper()
		out, code := w.command(t, mailhostd(), args...)
		assert.Assert(t, code == 0, "%v ended with %d:\n%s", args, code, out)
		var outputs map[string]any
		assert.NilError(t, json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "outputs.json"))), &outputs))
		assert.NilError(t, os.Remove(filepath.Join(w.dir, "outputs.json")))
		return outputs
	}
	want := run("try", "--", "sh", "-c", mailhostd()+` proxy --upstream "$MAILHOST_BASE_URL" --record `+recording+` -- sh life.sh`)
	assert.Check(t, len(want) > 5, "%v", want)
	for _, parallelism := range []string{"-parallelism=1", "-parallelism=30"} {
		w.set("TF_CLI_ARGS_apply", parallelism)
		got := run("try", "--replay", recording, "--", "sh", "life.sh")
		assert.Check(t, is.DeepEqual(got, want), parallelism)
	}
	// A test that changes what it sends gets an error that names the difference.
	w.write(t, "main.tf", strings.Replace(read(t, filepath.Join(w.dir, "main.tf")), "first_name = \"Jane\"\n", "first_name = \"Joan\"\n", 1))
	out, code := w.command(t, mailhostd(), "try", "--replay", recording, "--", "sh", "life.sh")
	text := strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " ")
	assert.Check(t, code != 0 && strings.Contains(text, `he recording contains no POST /mailboxes with first_name "Joan"`) && strings.Contains(text, `with first_name "Jane"`), "%s", out)
}
