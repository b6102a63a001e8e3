package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// report receives the output of the demo and the CLI's error stream, which are written
// concurrently.
type report struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *report) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// newTestDemo returns a demo of a small repository that uses the fake CLI and an empty
// home folder, and its output.
func newTestDemo(t *testing.T) (*demo, *report) {
	t.Helper()
	dir := t.TempDir()
	root, home := filepath.Join(dir, "repository"), filepath.Join(dir, "home")
	t.Setenv("HOME", home)
	t.Setenv("APPDATA", home)
	for _, xdg := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(xdg, filepath.Join(home, xdg))
	}
	t.Setenv("TF_CLI_CONFIG_FILE", filepath.Join(home, "absent"))
	t.Setenv("TF_CLI_ARGS_plan", "-destroy")
	t.Setenv("MAILHOST_BASE_URL", "https://api.example.com")
	t.Setenv(fakeEnv, filepath.Join(dir, "calls"))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise the fake ends a second late under the race detector

	source := filepath.Join(root, "examples", "quickstart")
	for _, d := range []string{source, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"main.tf", "mailboxes.csv", "terraform.tfstate", ".terraform.lock.hcl"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := new(report)
	d := newDemo(root, "0.1.0", out, out)
	d.build = func(_ context.Context, path string) error { return os.WriteFile(path, []byte("provider"), 0o755) }
	d.install = func(context.Context, string) (string, error) {
		return "", errors.New("nothing is to be installed here")
	}
	d.getenv = func(name string) string { return map[string]string{"TF_CLI": self}[name] }
	return d, out
}

func TestUpAppliesAndChecks(t *testing.T) {
	d, out := newTestDemo(t)
	before := files(t, d.root)
	if err := d.up(t.Context()); err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}

	made := calls(t)
	if got, want := commands(made), []string{"init", "plan", "show", "apply", "plan", "state", "output"}; !slices.Equal(got, want) {
		t.Errorf("commands are %v, want %v", got, want)
	}
	for _, c := range made {
		if c.Dir != d.config() {
			t.Errorf("%s ran in %s, want %s", c, c.Dir, d.config())
		}
		for _, v := range c.Env {
			if strings.HasPrefix(v, "MAILHOST_") || strings.HasPrefix(v, "TF_CLI_ARGS") {
				t.Errorf("%s got %s", c, v)
			}
		}
		if !slices.Contains(c.Env, "TF_CLI_CONFIG_FILE="+d.configFile()) {
			t.Errorf("%s did not get the demo's own CLI configuration", c)
		}
	}
	for _, want := range []string{
		"2  mailhost_mailbox           create", "Plan: 2 to add", "│ Warning: mind the gap", "Creation complete",
		"It is: no changes.", "2  mailhost_mailbox\n", "answer = 42", ".demo/quickstart/.mailhost/mailhost.db",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	for _, unwanted := range []string{"Creating...", "secret"} {
		if strings.Contains(out.String(), unwanted) {
			t.Errorf("the report holds %q:\n%s", unwanted, out)
		}
	}

	after := slices.DeleteFunc(files(t, d.root), func(f string) bool { return strings.HasPrefix(f, ".demo/") })
	if !slices.Equal(after, before) {
		t.Errorf("files outside .demo are %v, want %v", after, before)
	}
	if got := files(t, os.Getenv("HOME")); len(got) != 0 {
		t.Errorf("the home folder holds %v, want nothing", got)
	}
	if got, want := files(t, d.config()), []string{".terraform.lock.hcl", "mailboxes.csv", "main.tf", "terraform.tfstate"}; !slices.Equal(got, want) {
		t.Errorf("the copy holds %v, want %v", got, want)
	}
	if _, err := os.Stat(d.planFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the plan file is still there (%v)", err)
	}
}

func TestUpAgainChangesNothing(t *testing.T) {
	d, out := newTestDemo(t)
	if err := d.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls(t)
	if strings.Contains(out.String(), "Nothing to apply.") {
		t.Errorf("the first run applied nothing:\n%s", out)
	}
	if err := d.up(t.Context()); err != nil {
		t.Fatalf("up again: %v\n%s", err, out)
	}
	if got, want := commands(calls(t)), []string{"init", "plan", "plan", "state", "output"}; !slices.Equal(got, want) {
		t.Errorf("commands are %v, want %v", got, want)
	}
	if !strings.Contains(out.String(), "Nothing to apply.") {
		t.Errorf("the report lacks the line that nothing was applied:\n%s", out)
	}
}

func TestUpCopiesEdits(t *testing.T) {
	d, _ := newTestDemo(t)
	if err := d.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.source(), "mailboxes.csv"), []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(d.config(), "mailboxes.csv"))
	if err != nil || string(got) != "edited" {
		t.Errorf("the copy is %q (%v), want the edited file", got, err)
	}
	state, err := os.ReadFile(filepath.Join(d.config(), "terraform.tfstate"))
	if err != nil || string(state) != "2" {
		t.Errorf("the state is %q (%v), want the one of the first run", state, err)
	}
}

func TestUpFails(t *testing.T) {
	for fault, want := range map[string]string{
		"init":  "init ended with exit code 1",
		"plan":  "plan ended with exit code 1",
		"apply": "apply ended with exit code 1",
		"drift": "the second plan is not empty",
	} {
		t.Run(fault, func(t *testing.T) {
			d, out := newTestDemo(t)
			t.Setenv(fakeFaultEnv, fault)
			err := d.up(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("error is %v, want %q", err, want)
			}
			if fault == "drift" && !strings.Contains(out.String(), "+ mailhost_mailbox") {
				t.Errorf("the report does not show the second plan:\n%s", out)
			}
			t.Setenv(fakeFaultEnv, "")
			if err := d.up(t.Context()); err != nil {
				t.Errorf("up after the fault: %v", err)
			}
		})
	}
}

func TestUpFailsToBuild(t *testing.T) {
	d, _ := newTestDemo(t)
	broken := errors.New("the provider does not compile")
	d.build = func(context.Context, string) error { return broken }
	if err := d.up(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error is %v, want %v", err, broken)
	}
}

func TestUpInterrupted(t *testing.T) {
	d, _ := newTestDemo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.up(ctx); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error is %v, want interrupted", err)
	}
}

func TestUpInstallsCLI(t *testing.T) {
	d, out := newTestDemo(t)
	self := d.getenv("TF_CLI")
	d.getenv = func(string) string { return "" }
	d.lookPath = func(string) (string, error) { return "", os.ErrNotExist }
	d.install = func(_ context.Context, dir string) (string, error) {
		if dir != d.binDir() {
			t.Errorf("installing into %s, want %s", dir, d.binDir())
		}
		return self, nil
	}
	if path, err := d.cliPath(t.Context()); err != nil || path != self {
		t.Errorf("the CLI is %q (%v), want the installed one", path, err)
	}
	if got, want := files(t, d.work), []string{".gitignore"}; !slices.Equal(got, want) {
		t.Errorf("the demo's folder holds %v, want %v", got, want)
	}
	if err := d.up(t.Context()); err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}

	d.install = func(context.Context, string) (string, error) { return "", errors.New("no route to host") }
	err := d.up(t.Context())
	for _, want := range []string{
		"no route to host", "https://developer.hashicorp.com/terraform/install", "https://opentofu.org", "TF_CLI=", "1.8.0", d.binDir(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to hold %q", err, want)
		}
	}
}

func TestDown(t *testing.T) {
	d, out := newTestDemo(t)
	if err := d.down(t.Context()); err != nil {
		t.Fatalf("down before up: %v", err)
	}
	if err := d.up(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls(t)
	for _, fault := range []string{"destroy", "remains"} {
		t.Setenv(fakeFaultEnv, fault)
		if err := d.down(t.Context()); err == nil || !strings.Contains(err.Error(), "delete "+d.work) {
			t.Errorf("with the fault %q the error is %v, want advice", fault, err)
		}
		if _, err := os.Stat(d.work); err != nil {
			t.Fatalf("with the fault %q the folder is gone", fault)
		}
	}
	t.Setenv(fakeFaultEnv, "")
	if err := d.down(t.Context()); err != nil {
		t.Fatalf("down: %v\n%s", err, out)
	}
	if got, want := commands(calls(t)), []string{"init", "destroy", "init", "destroy", "state", "init", "destroy", "state"}; !slices.Equal(got, want) {
		t.Errorf("commands are %v, want %v", got, want)
	}
	if _, err := os.Stat(d.work); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
}
