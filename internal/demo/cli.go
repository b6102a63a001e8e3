package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// errNoCLI reports that neither Terraform nor OpenTofu is there.
var errNoCLI = errors.New("no Terraform or OpenTofu CLI was found")

// findCLI returns the path of the CLI to use: the one that TF_CLI names, else
// terraform or tofu on PATH, else the terraform that an earlier run left in
// binDir. It returns errNoCLI where there is none.
func findCLI(getenv func(string) string, lookPath func(string) (string, error), binDir string) (string, error) {
	if named := getenv("TF_CLI"); named != "" {
		path, err := lookPath(named)
		if err != nil {
			return "", fmt.Errorf("TF_CLI names %q, which can't be run (%w); name another, or unset it to use terraform or tofu on PATH", named, err)
		}
		return filepath.Abs(path)
	}
	for _, candidate := range []string{"terraform", "tofu", filepath.Join(binDir, "terraform")} {
		if path, err := lookPath(candidate); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errNoCLI
}

// cli is a Terraform or OpenTofu executable and what to run it with.
type cli struct {
	path    string
	dir     string
	env     []string
	stderr  func(line string)
	product string // Terraform or OpenTofu
	version string
}

// name is what a user types to run it.
func (c *cli) name() string { return strings.TrimSuffix(filepath.Base(c.path), ".exe") }

// typed is what the user types to run this very CLI: its name where that finds
// it, else its path.
func (c *cli) typed() string {
	if found, err := exec.LookPath(c.name()); err == nil && found == c.path {
		return c.name()
	}
	return c.path
}

// run runs a command of the CLI, passes each line of its output to emit and returns its
// exit code. The error reports only that it could not be run at all.
func (c *cli) run(ctx context.Context, emit func(line string), args ...string) (int, error) {
	// Without cancel: that would kill an apply in the middle of a write.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.path, args...)
	stdout, stderr := &lineWriter{emit: emit}, &lineWriter{emit: c.stderr}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, stdout, stderr
	err := cmd.Run()
	stdout.flush()
	stderr.flush()
	if ctx.Err() != nil {
		return 0, errors.New("interrupted; `make demo` continues from here")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// must is run for a command that has to succeed.
func (c *cli) must(ctx context.Context, emit func(line string), args ...string) error {
	code, err := c.run(ctx, emit, args...)
	return c.outcome(code, err, args[0])
}

// outcome returns the error of a finished command.
func (c *cli) outcome(code int, err error, command string) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", c.name(), command, err)
	case code != 0:
		return fmt.Errorf("%s %s ended with exit code %d; its own message stands above", c.name(), command, code)
	}
	return nil
}

// capture is must for a command whose output is wanted.
func (c *cli) capture(ctx context.Context, args ...string) (string, error) {
	var out transcript
	err := c.must(ctx, out.add, args...)
	return out.String(), err
}

// transcript keeps the lines of an output.
type transcript struct{ strings.Builder }

func (t *transcript) add(line string) { t.WriteString(line + "\n") }

// identify asks the CLI what it is, and refuses one that is too old.
func (c *cli) identify(ctx context.Context) error {
	out, err := c.capture(ctx, "version")
	if err != nil {
		return err
	}
	c.product, c.version, err = localcli.ParseVersion(out)
	if err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	return nil
}
