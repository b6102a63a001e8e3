// Package userimport implements mailhostd import, which creates a mailbox for each user in the export of
// another mail host (account.go), or writes the mailboxes for Terraform (configuration.go).
package userimport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

type Command struct {
	File string `arg:"" placeholder:"FILE" help:"CSV file: the user export of Google Workspace, Microsoft 365 or Entra, or one with the columns address (or local_part), first_name and last_name."`

	Domain      []string                  `variable:"-" placeholder:"NAME" help:"Take the rows of this domain only; repeat it for several. Required if the file has several domains, or local parts only."`
	DryRun      bool                      `variable:"-" short:"n" help:"Check the file, compare it with the account if there is one, and change nothing."`
	SkipInvalid bool                      `variable:"-" help:"Import the valid rows of a file that has others too."`
	ActiveOnly  bool                      `variable:"-" help:"Leave out users who are suspended, archived or blocked at the old host."`
	Column      map[userlist.Field]string `variable:"-" mapsep:"none" placeholder:"FIELD=HEADER" help:"Name a column whose header is not recognized, for instance address=Benutzerprinzipalname. Fields: ${import_fields}."`
	Encoding    string                    `variable:"-" placeholder:"NAME" help:"Encoding of a file that is not in UTF-8 or UTF-16, for instance windows-1252."`
	HCL         string                    `name:"hcl" variable:"-" placeholder:"FOLDER" help:"Write the cleaned CSV of each domain, and the mailhost_mailbox_set that reads it, to this folder. No account is needed."`
	Overwrite   bool                      `variable:"-" help:"With --hcl: replace a CSV file that has other content."`

	cli.TargetFlags
	cli.OutputFlags
}

func (Command) Help() string {
	return "Creates a mailbox for each row of the file. A byte order mark, UTF-16, semicolons and tabs are understood. " +
		"The file is checked first: if a row can't become a mailbox, each such row is listed with its line, and nothing is created. " +
		"Mailboxes that exist stay as they are, so that you can run the command again after an interruption or a change of the file. " +
		"The domains must exist in the account. A token needs the rights mailbox.view and mailbox.create."
}

// Fields lists the fields that --column may name.
func Fields() string {
	names := make([]string, len(userlist.Fields))
	for i, f := range userlist.Fields {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

func (c Command) Validate() error {
	for field := range c.Column {
		if !slices.Contains(userlist.Fields, field) {
			return fmt.Errorf("--column: there is no field %.40q; the fields are %s", field, Fields())
		}
	}
	if c.Overwrite && c.HCL == "" {
		return errors.New("--overwrite: needs --hcl")
	}
	return nil
}

func (c Command) Run(ctx context.Context, p cli.Program) (err error) {
	list, encoding, err := c.read()
	if err != nil {
		return err
	}
	refused := len(list.Problems) > 0 && !c.SkipInvalid
	c.DryRun = c.DryRun || refused
	result := newImportResult(c, list, encoding)
	switch {
	case c.HCL != "":
		err = c.writeConfigurations(result)
	case c.DryRun && !c.hasAccount():
		result.notCompared = true
	default:
		err = c.importInto(ctx, p, result)
	}
	if printErr := c.Print(p, result, result.writeText); err == nil {
		err = printErr
	}
	failed := 0
	for _, d := range result.Domains {
		failed += d.Failed
	}
	switch {
	case err != nil:
		return err
	case refused:
		return fmt.Errorf("%s can't become mailboxes, so nothing was imported; correct them in the file, or leave them out with --skip-invalid",
			cli.Counted(result.InvalidRows, "row"))
	case failed > 0:
		return fmt.Errorf("%s can't be created; the others exist. Solve the problems above, and run the command again", cli.Counted(failed, "mailbox"))
	}
	return nil
}

// hasAccount reports whether there is an account to compare the file with. Without one, only a dry run succeeds.
func (c Command) hasAccount() bool {
	_, err := os.Stat(cli.DefaultDatabase)
	return c.BaseURL != "" || c.Database != "" || err == nil
}

// read reads the file, and returns the name of its encoding too.
func (c Command) read() (*userlist.List, string, error) {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return nil, "", fmt.Errorf("the file can't be read: %w", err)
	}
	text, encoding, err := c.decode(data)
	if err != nil {
		return nil, "", err
	}
	domains := make([]string, len(c.Domain))
	for i, name := range c.Domain {
		if domains[i], err = domainname.Normalize(name); err != nil {
			return nil, "", fmt.Errorf("%s: the domain %.255q is invalid: %w", c.File, name, err)
		}
	}
	list, err := userlist.Parse(text, userlist.Options{Domains: domains, Columns: c.Column, ActiveOnly: c.ActiveOnly})
	if missing, ok := errors.AsType[*userlist.MissingColumnError](err); ok {
		advice := make([]string, len(missing.Fields))
		for i, field := range missing.Fields {
			if advice[i] = fmt.Sprintf("--column %s=HEADER", field); field == userlist.Domain {
				advice[i] = "--domain NAME"
			}
		}
		return nil, "", fmt.Errorf("%s: %w; add %s", c.File, err, strings.Join(advice, " "))
	} else if err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.File, err)
	}
	if err := c.requireRows(list, domains); err != nil {
		return nil, "", err
	}
	if len(c.Domain) == 0 && len(list.ByDomain()) > 1 {
		return nil, "", fmt.Errorf("%s has several domains: %s; choose with --domain, which you can repeat", c.File, describeDomains(list.Domains))
	}
	return list, encoding, nil
}

// requireRows returns an error if the file contains no row of a domain that the command names: the
// domain is probably misspelt.
func (c Command) requireRows(list *userlist.List, domains []string) error {
	missing := slices.DeleteFunc(domains, func(name string) bool { return list.Domains[name] > 0 })
	if len(missing) == 0 {
		return nil
	}
	found := "it has " + describeDomains(list.Domains)
	if len(list.Domains) == 0 {
		found = "it has " + cli.Counted(list.Rows, "row") + " without a domain"
	}
	return fmt.Errorf("%s has no row of %s; %s", c.File, strings.Join(missing, ", "), found)
}

// describeDomains lists up to ten domains with their numbers of rows.
func describeDomains(rows map[string]int) string {
	const most = 10
	var parts []string
	for i, name := range userlist.SortedDomains(rows) {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d others", len(rows)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", cli.Printable(name), rows[name]))
	}
	return strings.Join(parts, ", ")
}

type importResult struct {
	File     string                    `json:"file"`
	Encoding string                    `json:"encoding"`
	Columns  map[userlist.Field]string `json:"columns"`
	Rows     int                       `json:"rows"`
	DryRun   bool                      `json:"dry_run"`
	// Domains are the chosen domains, by name.
	Domains []*importedDomain `json:"domains"`
	// OtherDomains counts the rows of each other domain.
	OtherDomains map[string]int `json:"other_domains"`
	// Inactive counts the imported users who are inactive at the old host, and LeftOut the users omitted
	// by --active-only.
	Inactive int `json:"inactive"`
	LeftOut  int `json:"left_out"`
	// LeftOutAddresses are the addresses of the omitted users.
	LeftOutAddresses []string `json:"left_out_addresses,omitempty"`
	// Aliases counts further addresses, which can't be created.
	Aliases     int                `json:"aliases"`
	InvalidRows int                `json:"invalid_rows"`
	Problems    []userlist.Problem `json:"problems"`
	// Files are the files that --hcl wrote.
	Files []string `json:"files,omitempty"`

	list        *userlist.List
	notCompared bool
}

// importedDomain contains the results for the users of a domain.
type importedDomain struct {
	Name  string `json:"name"`
	Users int    `json:"users"`
	// Existing mailboxes are not changed; OtherNames counts those with other names.
	Existing   int `json:"existing"`
	OtherNames int `json:"other_names"`
	// Create is the number of users without a mailbox in the account.
	Create  int `json:"create"`
	Created int `json:"created"`
	Failed  int `json:"failed"`

	users    []userlist.User
	compared bool            // with the account
	missing  []userlist.User // in the account
}

func newImportResult(c Command, list *userlist.List, encoding string) *importResult {
	r := &importResult{
		File: c.File, Encoding: encoding, Columns: list.Columns, Rows: list.Rows, Domains: []*importedDomain{},
		OtherDomains: list.OtherDomains, LeftOut: len(list.LeftOut), LeftOutAddresses: list.LeftOut, Problems: append([]userlist.Problem{}, list.Problems...),
		DryRun: c.DryRun, list: list,
	}
	r.InvalidRows = len(slices.CompactFunc(slices.Clone(list.Problems), func(a, b userlist.Problem) bool { return a.Line == b.Line }))
	for _, u := range list.Users {
		r.Aliases += u.Aliases
		if u.Inactive {
			r.Inactive++
		}
	}
	users := list.ByDomain()
	for _, name := range slices.Sorted(maps.Keys(users)) {
		r.Domains = append(r.Domains, &importedDomain{Name: name, Users: len(users[name]), users: users[name]})
	}
	return r
}
