package examples_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-version"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// Parts of configurations.
const (
	requiredProvider = `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}
`
	embedded = requiredProvider + `
provider "mailhost" {
  embedded = {}
}
`
	contact = `contact_info = {
    first_name = "Jane", last_name = "Doe", organization = "Example", email = "jane@example.net", phone = "+4922112345"
    address_1  = "Hauptstr. 1", city = "Köln", state = "NRW", zip = "50667", country = "DE"
  }
`
)

// scratch is a folder that the tests share. TestMain removes it.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "examples-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

func mailhostd() string { return filepath.Join(scratch, "bin", "mailhostd") }

// installed builds the provider and mailhostd, once.
var installed = sync.OnceValue(func() error {
	ctx := context.Background()
	if err := localcli.Install(ctx, root, scratch); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", mailhostd(), root+"/apiserver/cmd/mailhostd").CombinedOutput(); err != nil {
		return fmt.Errorf("mailhostd does not compile: %w\n%s", err, out)
	}
	return nil
})

// workspace runs the CLI in a copy of an example.
type workspace struct {
	dir string
	cli string
	env []string
}

// newWorkspace returns an empty workspace. It skips the test if there is no CLI.
func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set")
	}
	t.Parallel()
	cli, err := exec.LookPath(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform"))
	if err != nil {
		t.Skipf("no CLI: %v", err)
	}
	assert.NilError(t, installed())
	w := &workspace{dir: t.TempDir(), cli: cli, env: localcli.Environment(os.Environ(), scratch, t.TempDir())}
	w.set("TF_CLI", cli)
	return w
}

// enter returns a workspace with a copy of an example. It skips the test if the CLI is
// too old for the example.
func enter(t *testing.T, example string) *workspace {
	t.Helper()
	w := newWorkspace(t)
	w.copy(t, example)
	w.skipBelow(t)
	return w
}

// set sets an environment variable.
func (w *workspace) set(name, value string) { w.env = append(w.env, name+"="+value) }

// copy switches to a new copy of the example, like a job's checkout.
func (w *workspace) copy(t *testing.T, example string) {
	t.Helper()
	w.dir = filepath.Join(t.TempDir(), example)
	assert.NilError(t, copyConfig(w.dir, filepath.Join(examples, example)))
}

// copyConfig copies a configuration and the folders below it, without what a CLI
// keeps beside them: hidden files, and states.
func copyConfig(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		kept := rel != "." && (strings.HasPrefix(e.Name(), ".") || strings.Contains(e.Name(), ".tfstate"))
		switch {
		case e.IsDir() && kept:
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case kept || !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o600|info.Mode()&0o100) // a script stays one
	})
}

var requiredVersion = regexp.MustCompile(`required_version = "(.*)"`)

// skipBelow skips the test if the example requires a newer CLI.
func (w *workspace) skipBelow(t *testing.T) {
	t.Helper()
	product, number, err := localcli.ParseVersion(w.must(t, "version"))
	assert.NilError(t, err)
	m := requiredVersion.FindStringSubmatch(read(t, filepath.Join(w.dir, "versions.tf")))
	assert.Assert(t, m != nil, "versions.tf has no required_version")
	required, err := version.NewConstraint(m[1])
	assert.NilError(t, err)
	if !required.Check(version.Must(version.NewVersion(number)).Core()) {
		t.Skipf("%s %s is not %s, which this example requires", product, number, m[1])
	}
}

// run runs the CLI and returns its output and exit code.
func (w *workspace) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	return w.command(t, w.cli, args...)
}

// command runs a command in the workspace.
func (w *workspace) command(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	text := colours.ReplaceAllString(string(out), "")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return text, exit.ExitCode()
	}
	assert.NilError(t, err, "%s", cmd)
	return text, 0
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// must runs the CLI, which has to succeed.
func (w *workspace) must(t *testing.T, args ...string) string {
	t.Helper()
	out, code := w.run(t, args...)
	assert.Assert(t, code == 0, "%s ended with %d:\n%s", strings.Join(args, " "), code, out)
	return out
}

// refused runs the CLI, which has to fail and print all of wants, ignoring line breaks.
func (w *workspace) refused(t *testing.T, args []string, wants ...string) {
	t.Helper()
	out, code := w.run(t, args...)
	assert.Check(t, code == 1, "%s ended with %d, want 1:\n%s", strings.Join(args, " "), code, out)
	text := unwrapped(out)
	for _, want := range wants {
		assert.Check(t, strings.Contains(text, want), "%s does not print %q:\n%s", strings.Join(args, " "), want, out)
	}
}

// unwrapped joins the wrapped lines of the CLI's diagnostics.
func unwrapped(out string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(out)), " ")
}

// planIsEmpty fails if a plan has changes, or warns of a loss.
func (w *workspace) planIsEmpty(t *testing.T, args ...string) {
	t.Helper()
	out, code := w.run(t, append([]string{"plan", "-detailed-exitcode"}, args...)...)
	assert.Check(t, code == 0, "the plan ended with %d, want 0 for no changes:\n%s", code, out)
	assert.Check(t, !strings.Contains(unwrapped(out), "Warning: The plan "), "a plan without changes warns:\n%s", out)
}

// destroy destroys everything.
func (w *workspace) destroy(t *testing.T, args ...string) {
	t.Helper()
	w.must(t, append([]string{"destroy", "-auto-approve"}, args...)...)
	left := w.must(t, "state", "list")
	assert.Check(t, strings.TrimSpace(left) == "", "the destroy left\n%s", left)
}

// write writes a file in the workspace.
func (w *workspace) write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

// needsShell skips the test without a POSIX shell or one of the programs.
func needsShell(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX shell")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("the scripts need %s: %v", p, err)
		}
	}
}
