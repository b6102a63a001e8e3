package userimport

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/hcltext"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/csvfile"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// writeConfigurations writes two files for each domain: its mailboxes as CSV, and the mailbox set that reads them.
func (c Command) writeConfigurations(result *importResult) error {
	var differ, formulas []string
	files := map[string][]byte{}
	for _, d := range result.Domains {
		for _, user := range d.users {
			if isFormula(user.FirstName) || isFormula(user.LastName) {
				formulas = append(formulas, cli.Printable(user.Address.String()))
			}
		}
		var content bytes.Buffer
		if err := userlist.WriteCSV(&content, d.users); err != nil {
			return err
		}
		path := filepath.Join(c.HCL, d.Name+".csv")
		old, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(old, content.Bytes()) && !c.Overwrite {
			differ = append(differ, path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		files[d.Name] = content.Bytes()
	}
	if len(formulas) > 0 {
		return fmt.Errorf("a spreadsheet that opens the list would run the names of %s as formulas; change them in the file. Nothing was written", strings.Join(formulas, ", "))
	}
	if len(differ) > 0 {
		return fmt.Errorf("%s exists with other content; compare it first, because a line that is gone is a deleted mailbox, "+
			"then replace it with --overwrite. Nothing was written", strings.Join(differ, ", "))
	}
	if c.DryRun {
		return nil
	}
	if err := os.MkdirAll(c.HCL, 0o755); err != nil {
		return err
	}
	for _, d := range result.Domains {
		path := filepath.Join(c.HCL, d.Name+".csv")
		if c.Overwrite { // the file itself, not the target of a symbolic link
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := cli.WriteNew(path, files[d.Name], 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		result.Files = append(result.Files, path)
		reference, err := domainReference(c.HCL, d.Name)
		if err != nil {
			return err
		}
		path = filepath.Join(c.HCL, d.Name+".tf")
		err = cli.WriteNew(path, []byte(configuration(d.Name, reference)), 0o644)
		if err == nil {
			result.Files = append(result.Files, path)
		} else if !errors.Is(err, fs.ErrExist) { // an existing file may have been edited
			return err
		}
	}
	return nil
}

// isFormula reports whether a spreadsheet would evaluate a name. A mere hyphen, which often stands for
// an unknown name, is no formula.
func isFormula(name string) bool { return name != "-" && csvfile.IsFormula(name) }

// configuration returns the mailbox set of a domain, which reads the CSV file in the same folder.
// reference is the domain's name in the configuration, or "".
func configuration(domain, reference string) string {
	comment, value := `  # If this configuration has the domain too, write its reference, for instance
  # mailhost_domain.main.name. Without it a destroy deletes the mailboxes, and fails at
  # the domain.
`, hcltext.Quote(domain)
	if reference != "" {
		comment, value = "", reference
	}
	return fmt.Sprintf(`# Mailboxes of %[1]s. Each line of %[1]s.csv is a mailbox: add one to create it. Removing
# one deletes the mailbox with its mail, as far as max_deletions (0) allows it.
resource "mailhost_mailbox_set" %[2]q {
%[3]s  domain = %[4]s

  # If the account has some of these mailboxes already, remove the # for the first apply.
  # on_existing = "adopt"

  # The function also reads the file after a spreadsheet has saved it as CSV UTF-8.
  mailboxes = provider::mailhost::parse_users(file("${path.module}/%[1]s.csv"), %[1]q)
}
`, domain, hcltext.Label(domain), comment, value)
}

// domainReference returns the reference to a domain's name in the configuration of a folder. It returns
// "" unless exactly one resource sets the name as a literal. Readers of the file can add other
// references, for instance to a name in a variable.
func domainReference(dir, domain string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil {
		return "", err
	}
	var references []string
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		file, _ := hclsyntax.ParseConfig(content, path, hcl.InitialPos) // returns the readable part of a file with an error
		for _, block := range file.Body.(*hclsyntax.Body).Blocks {
			has := block.Body.Attributes
			if block.Type != "resource" || len(block.Labels) != 2 || block.Labels[0] != "mailhost_domain" || has["name"] == nil || has["count"] != nil || has["for_each"] != nil {
				continue
			}
			var name string
			diags := gohcl.DecodeExpression(has["name"].Expr, nil, &name) // a literal needs no context
			if normalized, err := domainname.Normalize(name); !diags.HasErrors() && err == nil && normalized == domain {
				references = append(references, "mailhost_domain."+block.Labels[1]+".name")
			}
		}
	}
	if len(references) != 1 {
		return "", nil
	}
	return references[0], nil
}
