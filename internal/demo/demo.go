package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// longPlan is from how many lines on a plan is summed up instead of shown.
const longPlan = 80

// demo is one run of the command.
type demo struct {
	root    string // the repository
	work    string // what the demo makes
	version string // of the provider

	stdout, stderr io.Writer

	build    localcli.Builder
	install  func(ctx context.Context, dir string) (string, error)
	getenv   func(string) string
	lookPath func(string) (string, error)
}

func newDemo(root, version string, stdout, stderr io.Writer) *demo {
	return &demo{
		root: root, work: filepath.Join(root, ".demo"), version: version, stdout: stdout, stderr: stderr,
		build: localcli.GoBuild(root, version, stderr), install: installCLI, getenv: os.Getenv, lookPath: exec.LookPath,
	}
}

// The places in the demo's folder.

func (d *demo) binDir() string     { return filepath.Join(d.work, "bin") }
func (d *demo) homeDir() string    { return filepath.Join(d.work, "home") }
func (d *demo) mirror() string     { return filepath.Join(d.work, "mirror") }
func (d *demo) configFile() string { return filepath.Join(d.work, "cli.tfrc") }
func (d *demo) config() string     { return filepath.Join(d.work, "quickstart") }
func (d *demo) planFile() string   { return filepath.Join(d.work, "plan") }
func (d *demo) source() string     { return filepath.Join(d.root, "examples", "quickstart") }

// heading begins a part of the report.
func (d *demo) heading(format string, args ...any) {
	fmt.Fprintf(d.stdout, "\n== "+format+"\n", args...)
}

// say writes a line or several under the heading.
func (d *demo) say(format string, args ...any) {
	fmt.Fprint(d.stdout, indent(fmt.Sprintf(format, args...)))
}

// sayOutcome writes a line of an apply or a destroy that says what was done.
func (d *demo) sayOutcome(line string) {
	if isOutcome(line) {
		d.say("%s", line)
	}
}

// warn writes a line of the CLI's error stream.
func (d *demo) warn(line string) { fmt.Fprint(d.stderr, indent(line)) }

// up applies the quickstart and checks that a second plan is empty.
func (d *demo) up(ctx context.Context) error {
	start := time.Now()
	if err := d.prepare(); err != nil {
		return err
	}
	d.heading("Terraform or OpenTofu")
	c, err := d.openCLI(ctx)
	if err != nil {
		return err
	}
	d.say("%s %s: %s", c.product, c.version, c.path)

	d.heading("Build the provider and install it for this demo only")
	d.say("go build; the first time takes a few minutes ...")
	if err := localcli.Install(ctx, d.build, d.mirror(), d.version); err != nil {
		return err
	}
	d.say("mailhost/mailhost %s: %s\nYour own CLI settings are neither read nor changed.", d.version, d.rel(d.mirror()))

	if err := d.init(ctx, c); err != nil {
		return err
	}
	if err := d.planAndApply(ctx, c); err != nil {
		return err
	}
	if err := d.checkEmptyPlan(ctx, c); err != nil {
		return err
	}
	return d.show(ctx, c, time.Since(start))
}

// makeFolder creates the demo's folder, which git ignores.
func (d *demo) makeFolder() error {
	if err := os.MkdirAll(d.work, 0o700); err != nil { // the state holds secrets
		return err
	}
	return os.WriteFile(filepath.Join(d.work, ".gitignore"), []byte("*\n"), 0o600)
}

// prepare puts a fresh copy of the quickstart into the demo's folder, beside the
// state and the account of an earlier run.
func (d *demo) prepare() error {
	if err := d.makeFolder(); err != nil {
		return err
	}
	for _, dir := range []string{d.config(), d.homeDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(d.configFile(), []byte(localcli.Config(d.mirror())), 0o600); err != nil {
		return err
	}
	return localcli.CopyConfig(d.config(), d.source())
}

// cliPath returns the path of the CLI to use. If there is none, it installs Terraform
// in the demo's folder.
func (d *demo) cliPath(ctx context.Context) (string, error) {
	path, err := findCLI(d.getenv, d.lookPath, d.binDir())
	if !errors.Is(err, errNoCLI) {
		return path, err
	}
	d.say("Neither terraform nor tofu is on PATH. Installing Terraform from releases.hashicorp.com into %s ...", d.rel(d.binDir()))
	if err := d.makeFolder(); err != nil {
		return "", err
	}
	if path, err = d.install(ctx, d.binDir()); err != nil {
		return "", adviseInstall(err, d.binDir())
	}
	return path, nil
}

// openCLI returns the CLI to use, after checking its version.
func (d *demo) openCLI(ctx context.Context) (*cli, error) {
	path, err := d.cliPath(ctx)
	if err != nil {
		return nil, err
	}
	c := &cli{path: path, dir: d.config(), env: localcli.Environment(os.Environ(), d.configFile(), d.homeDir()), stderr: d.warn}
	return c, c.identify(ctx)
}

// init prepares the copy for this CLI and this build of the provider. The lock
// file may be of other ones.
func (d *demo) init(ctx context.Context, c *cli) error {
	d.heading("%s init", c.name())
	if err := os.RemoveAll(filepath.Join(d.config(), ".terraform.lock.hcl")); err != nil {
		return err
	}
	if out, err := c.capture(ctx, "init"); err != nil {
		d.say("%s", out)
		return err
	}
	d.say("in %s, a copy of %s", d.rel(d.config()), d.rel(d.source()))
	return nil
}

func (d *demo) planAndApply(ctx context.Context, c *cli) error {
	d.heading("%s plan", c.name())
	defer func() { _ = os.Remove(d.planFile()) }() // it holds what the state holds
	text, code, err := plan(ctx, c, "-out="+d.planFile())
	if err != nil || code != 0 && code != changesPlanned {
		return c.outcome(code, err, "plan")
	}
	if err := d.showPlan(ctx, c, text); err != nil {
		return err
	}

	d.heading("%s apply", c.name())
	if code == 0 {
		d.say("Nothing to apply.")
		return nil
	}
	return c.must(ctx, d.sayOutcome, "apply", d.planFile())
}

// changesPlanned is what plan -detailed-exitcode ends with where a plan is not
// empty.
const changesPlanned = 2

// plan plans, and returns what the CLI says of it and its exit code.
func plan(ctx context.Context, c *cli, args ...string) (text string, code int, err error) {
	var out transcript
	code, err = c.run(ctx, func(line string) {
		if !isProgress(line) {
			out.add(line)
		}
	}, append([]string{"plan", "-detailed-exitcode"}, args...)...)
	return out.String(), code, err
}

// showPlan shows a short plan as it is, and of a long one what it comes to.
func (d *demo) showPlan(ctx context.Context, c *cli, text string) error {
	if strings.Count(text, "\n") < longPlan {
		d.say("%s", text)
		return nil
	}
	doc, err := c.capture(ctx, "show", "-json", d.planFile())
	if err != nil {
		return err
	}
	changes, err := summarize([]byte(doc))
	if err != nil {
		return err
	}
	for _, ch := range changes {
		d.say("%3d  %-26s %s", ch.count, ch.resourceType, ch.action)
	}
	for line := range strings.Lines(text) {
		if isNotice(line) || strings.HasPrefix(line, "Plan:") {
			d.say("%s", line)
		}
	}
	return nil
}

// checkEmptyPlan fails where a plan right after an apply wants changes.
func (d *demo) checkEmptyPlan(ctx context.Context, c *cli) error {
	d.heading("A second plan, which has to be empty")
	text, code, err := plan(ctx, c)
	if err == nil && code == changesPlanned {
		d.say("%s", text)
		return errors.New("the second plan is not empty, although nothing was changed after the apply; this is a bug in the provider")
	}
	if err := c.outcome(code, err, "plan"); err != nil {
		return err
	}
	d.say("It is: no changes.")
	return nil
}

// show says what there is and what can be done with it.
func (d *demo) show(ctx context.Context, c *cli, took time.Duration) error {
	list, err := c.capture(ctx, "state", "list")
	if err != nil {
		return err
	}
	outputs, err := c.capture(ctx, "output")
	if err != nil {
		return err
	}
	d.heading("What there is now")
	d.say("%s", strings.Join(countTypes(list), "\n"))
	d.heading("Outputs")
	d.say("%s", outputs)
	d.heading("Where it lies")
	d.say("the account  %s\nthe state    %s", d.rel(filepath.Join(d.config(), ".mailhost", "mailhost.db")), d.rel(filepath.Join(d.config(), "terraform.tfstate")))
	d.heading("What to do next")
	d.say(`Change a name in %s and run make demo again.
Or look around with %s itself:
  export TF_CLI_CONFIG_FILE='%s'
  cd '%s'
  %s plan
Remove everything: make demo-destroy`,
		d.rel(filepath.Join(d.source(), "mailboxes.csv")), c.product, d.configFile(), d.config(), c.typed())
	fmt.Fprintf(d.stdout, "\nDone in %s.\n", took.Round(time.Second/10))
	return nil
}

// rel returns a path as it is shown: below the repository.
func (d *demo) rel(path string) string {
	if r, err := filepath.Rel(d.root, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}
