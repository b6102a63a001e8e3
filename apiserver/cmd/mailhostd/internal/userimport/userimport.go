// Package userimport implements mailhostd import, which creates a mailbox for each user in the export of
// another mail host (account.go), or writes the mailboxes for Terraform (configuration.go).
package userimport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

type Command struct {
	File string `arg:"" placeholder:"FILE" help:"CSV file: the user export of Google Workspace (also by GAM), Microsoft 365, Entra, Exchange or Zoho, or one with the columns address (or local_part), first_name and last_name."`

	Domain      []string                  `variable:"-" placeholder:"NAME" help:"Take the rows of this domain only; repeat it for several. Required if the file has several domains, or local parts only."`
	DryRun      bool                      `variable:"-" short:"n" help:"Check the file, compare it with the account if there is one, and change nothing."`
	SkipInvalid bool                      `variable:"-" help:"Import the valid rows of a file that has others too."`
	ActiveOnly  bool                      `variable:"-" help:"Leave out users who are suspended, archived or blocked at the old host. A status that is missing or not understood is an error."`
	Column      map[userlist.Field]string `variable:"-" mapsep:"none" placeholder:"FIELD=HEADER" help:"Name a column whose header is not recognized, for instance address=Postfach. Fields: ${import_fields}."`
	Encoding    string                    `variable:"-" placeholder:"NAME" help:"Encoding of a file that is not in UTF-8 or UTF-16, for instance windows-1252."`
	HCL         string                    `name:"hcl" variable:"-" placeholder:"FOLDER" help:"Write the cleaned CSV of each domain, and the mailhost_mailbox_set that reads it, to this folder. No account is needed."`
	Rejected    string                    `variable:"-" placeholder:"FILE" help:"Write the rows that are left out to this CSV file, each with the reason. Corrected, it can be imported. A dry run writes it too."`
	Overwrite   bool                      `variable:"-" help:"With --hcl or --rejected: replace a CSV file that has other content."`

	cli.TargetFlags
	cli.OutputFlags
}

func (Command) Help() string {
	return "Creates a mailbox for each row of the file. A byte order mark, UTF-16, semicolons and tabs are understood, and headers in many languages. " +
		"The mailbox is the mail address, else the primary proxy address (SMTP:), else the name with which the person signs in. " +
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
	if c.Overwrite && c.HCL == "" && c.Rejected == "" {
		return errors.New("--overwrite: needs --hcl or --rejected")
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
	if err := c.writeRejected(result); err != nil {
		return err
	}
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
			switch advice[i] = fmt.Sprintf("--column %s=HEADER", field); field {
			case userlist.Domain:
				advice[i] = "--domain NAME"
			case userlist.Status:
				advice[i] += ", or leave out --active-only"
			}
		}
		return nil, "", fmt.Errorf("%s: %w; add %s", c.File, err, strings.Join(advice, " "))
	} else if _, ok := errors.AsType[*userlist.UnknownStatusError](err); ok {
		return nil, "", fmt.Errorf("%s: %w; replace them in the file by active or suspended, or leave out --active-only", c.File, err)
	} else if err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.File, err)
	}
	if err := c.requireRows(list, domains); err != nil {
		return nil, "", err
	}
	if len(c.Domain) == 0 && len(list.ByDomain()) > 1 {
		var hints []string
		names := userlist.SortedDomains(list.Domains)
		for i, name := range names {
			if similar := userlist.SimilarDomain(name, names[:i]); similar != "" {
				hints = append(hints, fmt.Sprintf(" (is %s a misspelled %s?)", cli.Printable(name), cli.Printable(similar)))
			}
		}
		return nil, "", fmt.Errorf("%s has several domains: %s%s; choose with --domain, which you can repeat", c.File, describeCounts(list.Domains), strings.Join(hints, ""))
	}
	return list, encoding, nil
}

// writeRejected writes the file of --rejected. A byte order mark makes Excel read it as UTF-8.
func (c Command) writeRejected(result *importResult) error {
	if c.Rejected == "" {
		return nil
	}
	content := bytes.NewBufferString("\ufeff")
	if err := result.list.WriteRejected(content); err != nil {
		return err
	}
	old, err := os.ReadFile(c.Rejected)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case bytes.Equal(old, content.Bytes()):
		return nil
	case sameFile(c.File, c.Rejected):
		return fmt.Errorf("--rejected: %s is the file with the users; choose another name", c.Rejected)
	case !c.Overwrite:
		return fmt.Errorf("%s exists with other content; choose another file for --rejected, or replace it with --overwrite. Nothing was imported", c.Rejected)
	default:
		if err := os.Remove(c.Rejected); err != nil { // the file itself, not the target of a symbolic link
			return err
		}
	}
	if err := cli.WriteNew(c.Rejected, content.Bytes(), 0o600); err != nil {
		return err
	}
	result.Files = append(result.Files, c.Rejected)
	return nil
}

func sameFile(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

// requireRows returns an error if the file contains no row of a domain that the command names: the
// domain is probably misspelt.
func (c Command) requireRows(list *userlist.List, domains []string) error {
	missing := slices.DeleteFunc(domains, func(name string) bool { return list.Domains[name] > 0 })
	if len(missing) == 0 {
		return nil
	}
	found := "it has " + describeCounts(list.Domains)
	if len(list.Domains) == 0 {
		found = "it has " + cli.Counted(list.Rows, "row") + " without a domain"
		if list.Rejected != nil {
			first := list.Rejected[0]
			found += fmt.Sprintf(", the first in %s: %s", first.Place, cli.Printable(first.Reason))
		}
	}
	return fmt.Errorf("%s has no row of %s; %s", c.File, strings.Join(missing, ", "), found)
}

// describeCounts lists up to ten domains, or kinds of recipients, with their numbers of rows.
func describeCounts(rows map[string]int) string {
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
	// OtherDomains counts the rows of each other domain. SimilarDomains maps those that differ from a
	// chosen domain in one letter to it.
	OtherDomains   map[string]int    `json:"other_domains"`
	SimilarDomains map[string]string `json:"similar_domains,omitempty"`
	// Elsewhere are the rows of other domains that contain an address of a chosen domain.
	Elsewhere []elsewhere `json:"elsewhere,omitempty"`
	// NoMailboxes counts the rows of each kind of recipient that is no mailbox, such as a contact.
	NoMailboxes map[string]int `json:"no_mailboxes,omitempty"`
	// UnknownStatuses are not understood, and count as active.
	UnknownStatuses []userlist.UnknownStatus `json:"unknown_statuses,omitempty"`
	// UnknownKinds of recipients are not understood, and count as mailboxes.
	UnknownKinds []userlist.UnknownStatus `json:"unknown_kinds,omitempty"`
	// OtherMail counts the addresses in columns that are not understood, by header.
	OtherMail map[string]int `json:"other_mail,omitempty"`
	// Inactive counts the imported users who are inactive at the old host, and LeftOut the users omitted
	// by --active-only.
	Inactive int `json:"inactive"`
	LeftOut  int `json:"left_out"`
	// LeftOutAddresses are the addresses of the omitted users.
	LeftOutAddresses []string `json:"left_out_addresses,omitempty"`
	// SignIns are the users whose sign-in name is another address than the mailbox.
	SignIns []signIn `json:"sign_ins,omitempty"`
	// Aliases counts further addresses, which can't be created.
	Aliases     int                `json:"aliases"`
	InvalidRows int                `json:"invalid_rows"`
	Problems    []userlist.Problem `json:"problems"`
	// Files are the files that --hcl and --rejected wrote.
	Files []string `json:"files,omitempty"`

	list        *userlist.List
	notCompared bool
}

type signIn struct {
	userlist.Place
	Address string `json:"address"`
	SignIn  string `json:"sign_in"`
}

type elsewhere struct {
	userlist.Place
	Address string `json:"address"`
	// Local is the sign-in name or alias in a chosen domain.
	Local string `json:"local"`
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
		OtherDomains: list.OtherDomains, SimilarDomains: list.SimilarDomains, NoMailboxes: map[string]int{}, UnknownStatuses: list.UnknownStatuses,
		UnknownKinds: list.UnknownKinds, OtherMail: list.OtherMail,
		Problems: append([]userlist.Problem{}, list.Problems...), DryRun: c.DryRun, list: list,
	}
	for _, row := range list.Rejected {
		switch row.Cause {
		case userlist.Invalid:
			r.InvalidRows++
		case userlist.NotActive:
			r.LeftOutAddresses = append(r.LeftOutAddresses, row.Address)
		case userlist.NoMailbox:
			r.NoMailboxes[row.Kind]++
		case userlist.OtherDomain:
			if row.Local != "" {
				r.Elsewhere = append(r.Elsewhere, elsewhere{row.Place, row.Address, row.Local})
			}
		}
	}
	r.LeftOut = len(r.LeftOutAddresses)
	for _, u := range list.Users {
		r.Aliases += u.Aliases
		if u.SignIn != "" {
			r.SignIns = append(r.SignIns, signIn{u.Place, u.Address.String(), u.SignIn})
		}
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
