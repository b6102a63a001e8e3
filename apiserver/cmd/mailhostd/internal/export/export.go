// Package export implements mailhostd export: it reads an account (account.go), and writes it as handwritten
// Terraform configuration: the domains with their objects (configuration.go), and then the other kinds (kinds.go).
// Or it prints the zone file of a domain (zone.go).
package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

type Command struct {
	HCL       string `name:"hcl" xor:"form" variable:"-" placeholder:"FOLDER" help:"Write the account's configuration to this folder."`
	Zone      string `xor:"form" variable:"-" placeholder:"DOMAIN" help:"Print the DNS records of this domain as a zone file."`
	Overwrite bool   `variable:"-" help:"With --hcl: replace what an export has written to the folder before."`

	cli.TargetFlags
	cli.OutputFlags
}

func (Command) Help() string {
	return "With --hcl, writes the account as the configuration of Terraform or OpenTofu, with the import blocks: a plan in the folder only imports, " +
		"and after its apply the plan is empty. The published operations are enough, apart from what they can't list: README.md in the folder says what that is. " +
		"The same account gives the same files, so that a second export shows as a diff what was changed elsewhere.\n\n" +
		"With --zone, prints a domain's DNS records as a zone file (RFC 1035), which name servers load and other DNS hosts import. " +
		"The records that the mail host has created itself are at its end."
}

func (c Command) Validate() error {
	switch {
	case c.HCL == "" && c.Zone == "":
		return errors.New("give --hcl FOLDER for the whole account, or --zone DOMAIN for one domain's DNS records")
	case c.Overwrite && c.HCL == "":
		return errors.New("--overwrite: needs --hcl")
	case c.Zone != "" && api.Value(c.JSON):
		return errors.New("--json: --zone prints a zone file; mailhostd call list-dns-records prints the records as JSON")
	}
	return nil
}

// mark is the first line of each exported file, by which a later export recognises the file as its own.
const (
	mark       = "# Written by mailhostd export.\n\n"
	readmeMark = "# An account as code\n\nWritten by `mailhostd export`"
)

// ignored is the .gitignore of a folder that has none: a state contains secrets.
const ignored = ".terraform/\n*.tfstate\n*.tfstate.*\n"

type result struct {
	Folder    string   `json:"folder"`
	Files     []string `json:"files"`
	Domains   int      `json:"domains"`
	Mailboxes int      `json:"mailboxes"`
	Records   int      `json:"dns_records"`
	LeftOut   []string `json:"left_out"`
}

func (c Command) Run(ctx context.Context, p cli.Program) (err error) {
	if c.Zone != "" {
		return c.printZone(ctx, p)
	}
	// Check before reading the account, which may take long.
	present, err := c.present()
	if err != nil {
		return err
	}
	t, err := c.OpenTarget(ctx, p, cli.OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	progress, done := cli.ShowProgress(p.Stderr, "reading domains")
	account, err := read(ctx, t, progress)
	done()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.HCL, 0o755); err != nil {
		return err
	}
	for _, name := range account.Files {
		path := filepath.Join(c.HCL, name)
		if _, err := os.Lstat(path); err == nil && !slices.Contains(present, name) {
			return fmt.Errorf("%s was not written by an export; move it away, and run the command again", path)
		}
	}
	for _, name := range present {
		if err := os.Remove(filepath.Join(c.HCL, name)); err != nil {
			return err
		}
	}
	for _, name := range account.Files {
		if err := cli.WriteNew(filepath.Join(c.HCL, name), account.files[name], 0o644); err != nil {
			return err
		}
	}
	if err := cli.WriteNew(filepath.Join(c.HCL, ".gitignore"), []byte(ignored), 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	account.Folder = c.HCL
	return c.Print(p, account.result, account.writeText)
}

// present returns the files of an earlier export in the folder. Without --overwrite, any Terraform file
// or README.md in the folder is an error.
func (c Command) present() (own []string, err error) {
	entries, err := os.ReadDir(c.HCL)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != readmeFile && filepath.Ext(e.Name()) != ".tf" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(c.HCL, e.Name()))
		switch {
		case err != nil:
			return nil, err
		case !c.Overwrite:
			return nil, fmt.Errorf("%s has %s already; choose another folder, or replace an earlier export with --overwrite", c.HCL, e.Name())
		case bytes.HasPrefix(content, []byte(mark)) || bytes.HasPrefix(content, []byte(readmeMark)):
			own = append(own, e.Name())
		}
	}
	return own, nil
}

func (r result) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s, %s, %s\n", r.Folder, cli.Counted(len(r.Files), "file"), cli.Counted(r.Domains, "domain"),
		cli.Counted(r.Records, "DNS record"), cli.Counted(r.Mailboxes, "mailbox"))
	for _, line := range r.LeftOut {
		fmt.Fprintln(w, "left out: "+line)
	}
	fmt.Fprintf(w, "Next: cd %s && terraform init && terraform plan\n", r.Folder)
}
