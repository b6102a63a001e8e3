package userimport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTranscript checks the output, and the refused command lines.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/import.txt") }

const users = "\ufeffaddress,first_name,last_name\njane@example.com,Jane,Doe\nzoe@example.com,Zoë,M\n"

// TestLostResponse checks that a create with a lost response is found in the list.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	s, plane, owner, _ := mailhostdtest.ServeWithControl(t)
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, users)
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-mailboxes","drop":"after","nth":1}`, nil)
	code, stdout, stderr := mailhostdtest.RunWith(t, mailhostdtest.HTTPEnviron(s, owner), "import", file, "--no-json")
	assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, "example.com: 1 created, 1 exists already\n"), "exit code %d, %s%s", code, stdout, stderr)
	s.As(t, owner).Get("/mailboxes/zoe@example.com").Is("first_name", "Zoë")
}

// TestImportInBulk imports more mailboxes than an API accepts in one request.
func TestImportInBulk(t *testing.T) {
	t.Parallel()
	s, plane, owner, _ := mailhostdtest.ServeWithControl(t)
	rows := strings.Builder{}
	rows.WriteString("local_part;first_name;last_name\n")
	for i := range 501 {
		fmt.Fprintf(&rows, "user%d;A;B\n", i)
	}
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, rows.String())
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-mailboxes","status":413,"nth":1}`, nil)
	for _, want := range []string{"example.com: 501 created, 0 exist already\n", "example.com: 0 created, 501 exist already\n"} {
		code, stdout, stderr := mailhostdtest.RunWith(t, mailhostdtest.HTTPEnviron(s, owner), "import", file, "--domain", "example.com", "--no-json")
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, want), "exit code %d, %s%s", code, stdout, stderr)
	}
	var journal struct{ Items []struct{ Status int } }
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/journal?operation=create-mailboxes", "", &journal)
	assert.Check(t, len(journal.Items) == 6, "the requests were %+v; want one that is refused, and five of half its size", journal.Items)
}

// TestEncodings checks that the error for an unreadable file contains the next step.
func TestEncodings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.csv")
	for content, want := range map[string]string{
		"PK\x03\x04\xff": `is a workbook, not a CSV file; open it in the spreadsheet and save it as "CSV UTF-8"`,
		"address,first_name,last_name\nz@example.com,Zo\xeb,M\n": `line 2: the text is not in UTF-8; save the file as "CSV UTF-8", or name its encoding, for instance --encoding windows-1252`,
	} {
		mailhostdtest.WriteFile(t, file, content)
		mailhostdtest.Fails(t, nil, cli.ExitFailure, want, "import", file)
	}
}

// TestOverwrittenLink checks that --overwrite replaces a symbolic link, not its target.
func TestOverwrittenLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, victim, link := filepath.Join(dir, "users.csv"), filepath.Join(dir, "victim"), filepath.Join(dir, "example.com.csv")
	mailhostdtest.WriteFile(t, file, users)
	mailhostdtest.WriteFile(t, victim, "mine")
	assert.NilError(t, os.Symlink(victim, link))
	mailhostdtest.RunJSON[json.RawMessage](t, nil, "import", file, "--hcl", dir, "--overwrite")
	kept, err := os.ReadFile(victim)
	list, listErr := os.ReadFile(link)
	err = errors.Join(err, listErr)
	assert.Check(t, err == nil && string(kept) == "mine" && strings.Contains(string(list), "jane,Jane,Doe"), "%v: the victim is %q, the list %q", err, kept, list)
}

// TestImportHCLReference refers to the domain of the configuration, so that a destroy
// removes the mailboxes before it.
func TestImportHCLReference(t *testing.T) {
	t.Parallel()
	const (
		literal = `domain = "example.com"`
		other   = "resource \"mailhost_domain\" \"other\" {\n  name = \"example.org\"\n  contact_info = {\n    zip = \"1\"\n  }\n}\n"
		main    = "resource \"mailhost_domain\" \"main\" {\n  contact_info = {\n    zip = \"1\"\n  }\n  name = \"Example.com.\"\n}\n"
	)
	for name, test := range map[string]struct{ configuration, want string }{
		"one":          {other + main, "domain = mailhost_domain.main.name"},
		"on one line":  {"resource \"mailhost_domain\" \"a-1\" { name = \"example.com\" }\n" + other, "domain = mailhost_domain.a-1.name"},
		"none":         {other, literal},
		"two":          {main + strings.Replace(main, `"main"`, `"again"`, 1), literal},
		"instances":    {strings.Replace(main, "{", "{\n  count = 1", 1), literal},
		"commented":    {"# " + strings.ReplaceAll(main, "\n", "\n# "), literal},
		"another kind": {strings.Replace(main, "mailhost_domain", "mailhost_dns_zone", 1), literal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "users.csv")
			mailhostdtest.WriteFile(t, file, users)
			mailhostdtest.WriteFile(t, filepath.Join(dir, "main.tf"), test.configuration)
			mailhostdtest.RunJSON[json.RawMessage](t, nil, "import", file, "--domain", "example.com", "--hcl", dir)
			got, err := os.ReadFile(filepath.Join(dir, "example.com.tf"))
			assert.Check(t, err == nil && strings.Contains(string(got), test.want), "%v, the configuration is %s; want %s", err, got, test.want)
		})
	}
}
