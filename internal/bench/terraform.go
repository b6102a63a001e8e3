package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// The compared configurations. All of them read the same people.
const (
	people = `
locals {
  people = csvdecode(file("${path.module}/mailboxes.csv"))
}
`
	embedded = people + `
terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

provider "mailhost" {
  embedded = {}
}
`
	asSet = embedded + `
resource "mailhost_mailbox_set" "this" {
  domain    = "example.com"
  mailboxes = { for p in local.people : p.local_part => { first_name = p.first_name, last_name = p.last_name } }
}
`
	asTerraformData = people + `
resource "terraform_data" "this" {
  input = { for p in local.people : p.local_part => { first_name = p.first_name, last_name = p.last_name } }
}
`
	asCount = embedded + `
resource "mailhost_mailbox" "this" {
  count = length(local.people)

  domain     = "example.com"
  local_part = local.people[count.index].local_part
  first_name = local.people[count.index].first_name
  last_name  = local.people[count.index].last_name
}
`
	// The state of a mailbox is about as large as the state of one of these instances. The CLI copies
	// all states for each instance, and no provider can save the time that their size costs.
	asCountOfData = people + `
resource "terraform_data" "this" {
  count = length(local.people)

  input = {
    local_part = local.people[count.index].local_part
    padding    = format("%400s", count.index)
  }
}
`
)

// compareSet compares a set with one terraform_data with the same map, which takes the least possible
// time in the CLI.
func (b *bench) compareSet(ctx context.Context) error {
	ours, err := b.workspace(asSet, b.set)
	if err != nil {
		return err
	}
	theirs, err := b.workspace(asTerraformData, b.set)
	if err != nil {
		return err
	}
	lifecycle := func(w *workspace) func() ([]float64, error) {
		return func() ([]float64, error) {
			err := w.reset(ctx)
			first := w.plan(ctx, &err, 2)
			applied := w.apply(ctx, &err)
			return []float64{first, applied, w.plan(ctx, &err, 0)}, err
		}
	}
	var rows []row
	for _, command := range []string{"first plan", "apply", "empty plan"} {
		rows = append(rows, row{measure: fmt.Sprintf("set of %d: %s", b.set, command), target: 2, versus: "terraform_data"})
	}
	return b.compare(lifecycle(ours), lifecycle(theirs), rows...)
}

// compareSingle compares an empty plan of single mailboxes with a plan of as many terraform_data, which
// runs no provider process.
func (b *bench) compareSingle(ctx context.Context) error {
	applied := func(configuration string) (func() ([]float64, error), error) {
		w, err := b.workspace(configuration, b.single)
		if err != nil {
			return nil, err
		}
		b.progress("creating %d resources", b.single)
		err = w.reset(ctx)
		w.apply(ctx, &err)
		return func() (_ []float64, err error) { return []float64{w.plan(ctx, &err, 0)}, err }, err
	}
	ours, err := applied(asCount)
	if err != nil {
		return err
	}
	theirs, err := applied(asCountOfData)
	if err != nil {
		return err
	}
	return b.compare(ours, theirs, row{measure: fmt.Sprintf("plan of %d single mailboxes", b.single), target: 2.5, versus: "terraform_data with states of that size"})
}

// workspace is a folder with a configuration, in which the CLI runs.
type workspace struct {
	b   *bench
	dir string
}

// workspace creates a folder with a configuration and n people.
func (b *bench) workspace(configuration string, n int) (*workspace, error) {
	dir, err := os.MkdirTemp(b.scratch, "workspace-")
	if err != nil {
		return nil, err
	}
	var csv strings.Builder
	csv.WriteString("local_part,first_name,last_name\n")
	for i := range n {
		p := personAt(i)
		fmt.Fprintf(&csv, "%s,%s,%s\n", p.localPart, p.first, p.last)
	}
	return &workspace{b, dir}, errors.Join(
		os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration), 0o600),
		os.WriteFile(filepath.Join(dir, "mailboxes.csv"), []byte(csv.String()), 0o600),
	)
}

// reset removes the state, creates a new account with a domain, and initializes the folder.
func (w *workspace) reset(ctx context.Context) error {
	account := filepath.Join(w.dir, ".mailhost")
	err := errors.Join(os.RemoveAll(filepath.Join(w.dir, "terraform.tfstate")), os.RemoveAll(account), os.Mkdir(account, 0o700))
	if err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, filepath.Join(account, "mailhost.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	_, _, err = populate(ctx, db, 0)
	w.run(ctx, &err, 0, "init", "-input=false")
	return err
}

// plan measures a plan. It must end with the exit code: 0 for no changes, 2 for changes.
func (w *workspace) plan(ctx context.Context, err *error, code int) float64 {
	return w.run(ctx, err, code, "plan", "-detailed-exitcode", "-input=false")
}

func (w *workspace) apply(ctx context.Context, err *error) float64 {
	return w.run(ctx, err, 0, "apply", "-auto-approve", "-input=false")
}

// run measures a command of the CLI in seconds. The command must end with the exit code. After an error,
// run does nothing.
func (w *workspace) run(ctx context.Context, failed *error, code int, args ...string) float64 {
	if *failed != nil {
		return 0
	}
	cmd := exec.CommandContext(ctx, w.b.cli, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = w.dir, localcli.Environment(os.Environ(), w.b.scratch, w.b.path("home"))
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begun).Seconds()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		if at := bytes.Index(out, []byte("Error: ")); at >= 0 {
			out = out[at:]
		}
		*failed = fmt.Errorf("%s: %w: %s", args[0], errors.Join(err, fmt.Errorf("the exit code is not %d", code)), out)
	}
	return took
}
