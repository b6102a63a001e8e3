package examples_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAccDayTwo runs each recipe of examples/day-2 from its folder start. Each line of a steps.sh
// has to succeed, and to print what its comment says. In the end the plan is empty.
func TestAccDayTwo(t *testing.T) {
	needsShell(t)
	recipes, err := filepath.Glob(filepath.Join(examples, "day-2", "*", "steps.sh"))
	assert.Assert(t, err == nil && len(recipes) >= 15, "found %d recipes: %v", len(recipes), err)
	for _, steps := range recipes {
		name := filepath.Base(filepath.Dir(steps))
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.copy(t, "day-2")
			start := filepath.Join(w.dir, "start")
			w.dir = filepath.Join(w.dir, "here")
			assert.NilError(t, copyConfig(w.dir, start))
			w.useScripts(t)
			w.set("recipe", "../"+name)
			w.must(t, "init")
			w.must(t, "apply")
			w.follow(t, read(t, steps))
			w.planIsEmpty(t)
		})
	}
}

// TestAccReadyToSend applies examples/ready-to-send, in which each check of the domain's mail is ok.
func TestAccReadyToSend(t *testing.T) {
	w := enter(t, "ready-to-send")
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
	var checks map[string]string
	err := json.Unmarshal([]byte(w.must(t, "output", "-json", "checks")), &checks)
	assert.Assert(t, err == nil && len(checks) == 8, "checks %v, error %v", checks, err)
	for check, status := range checks {
		assert.Check(t, status == "ok", "%s is %s", check, status)
	}
}

// useScripts lets a script call the CLI under the name terraform, which asks no questions, and
// mailhostd, on the embedded account.
func (w *workspace) useScripts(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	for name, program := range map[string]string{"terraform": w.cli, "mailhostd": mailhostd()} {
		assert.NilError(t, os.Symlink(program, filepath.Join(bin, name)))
	}
	w.set("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.set("TF_CLI_ARGS_apply", "-auto-approve")
	w.set("TF_CLI_ARGS_destroy", "-auto-approve")
	w.set("MAILHOSTD_DATABASE", ".mailhost/mailhost.db")
}

// follow runs a script line by line.
func (w *workspace) follow(t *testing.T, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		_, prints, _ := strings.Cut(line, "# prints: ")
		out, code := w.command(t, "sh", "-c", line)
		assert.Assert(t, code == 0 && strings.Contains(unwrapped(out), prints), "%s ended with %d:\n%s", line, code, out)
	}
}
