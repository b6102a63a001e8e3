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

	"github.com/google/go-cmp/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/userimport"
)

// users is an export of Google Workspace for the account of the example fixture: jane and
// john exist, j.doe is an alias of jane.
const users = "\ufeffFirst Name [Required],Last Name [Required],Email Address [Required],Status [READ ONLY]\r\n" +
	"Jane,Doe,Jane@example.com,Active\r\n" +
	"Johnny,Roe,john@example.com,Suspended\r\n" +
	"J.,Doe,j.doe@example.com,Active\r\n" +
	"Zoë,\"Müller, M.A.\",zoe@example.com,Active\r\n" +
	"Eve,Other,eve@other.example,Active\r\n"

// importJSON runs an import and returns its result.
func importJSON(t *testing.T, environ []string, args ...string) (code int, r userimport.ImportResult, stderr string) {
	t.Helper()
	code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"import"}, args...)...)
	if stdout != "" {
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("stdout %s: %v", stdout, err)
		}
	}
	return code, r, stderr
}

// TestImport imports a file over HTTP, where the first response is lost, and into the
// database under a running server. A dry run changes nothing, and a second run neither.
func TestImport(t *testing.T) {
	t.Parallel()
	for _, overHTTP := range []bool{true, false} {
		t.Run(fmt.Sprintf("HTTP %t", overHTTP), func(t *testing.T) {
			t.Parallel()
			s, plane, owner, database := mailhostdtest.ServeWithControl(t)
			file := filepath.Join(t.TempDir(), "users.csv")
			mailhostdtest.WriteFile(t, file, users)
			var environ []string
			args := []string{file, "--domain", "example.com", "--database", database}
			if overHTTP {
				environ = []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + owner.Token}
				args = args[:3]
				mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-mailboxes","drop":"after","nth":1}`, nil)
			}
			mailboxes := func() int {
				total, _ := s.As(t, owner).Get("/mailboxes").At("total").(float64)
				return int(total)
			}
			before := mailboxes()
			code, r, stderr := importJSON(t, environ, append(args, "--dry-run")...)
			if want := (userimport.ImportedDomain{Name: "example.com", Users: 4, Existing: 2, OtherNames: 1, Create: 2}); code != cli.ExitOK || stderr != "" || !cmp.Equal(*r.Domains[0], want, cmp.AllowUnexported(want)) {
				t.Errorf("dry run: exit code %d, %+v, stderr %s; want %+v", code, *r.Domains[0], stderr, want)
			}
			if r.Rows != 5 || r.Inactive != 1 || r.OtherDomains["other.example"] != 1 {
				t.Errorf("dry run: %+v", r)
			}
			if n := mailboxes(); n != before {
				t.Fatalf("the dry run made %d mailboxes of %d", n, before)
			}

			for run, want := range []userimport.ImportedDomain{
				{Name: "example.com", Users: 4, Existing: 2, OtherNames: 1, Create: 2, Created: 1, Failed: 1},
				{Name: "example.com", Users: 4, Existing: 3, OtherNames: 1, Create: 1, Failed: 1},
			} {
				code, r, stderr = importJSON(t, environ, args...)
				if code != cli.ExitFailure || !strings.Contains(stderr, "1 mailbox can't be created") || !cmp.Equal(*r.Domains[0], want, cmp.AllowUnexported(want)) {
					t.Errorf("run %d: exit code %d, %+v, stderr %s; want %+v", run, code, *r.Domains[0], stderr, want)
				}
				if len(r.Problems) != 1 || r.Problems[0].Line != 4 || !strings.Contains(r.Problems[0].Problem, "j.doe@example.com is an alias of the mailbox jane@example.com") {
					t.Errorf("run %d: problems %+v", run, r.Problems)
				}
			}
			if n := mailboxes(); n != before+1 {
				t.Errorf("there are %d mailboxes; want one more than %d", n, before)
			}
			s.As(t, owner).Get("/mailboxes/zoe@example.com").Is("last_name", "Müller, M.A.")
		})
	}
}

// TestImportRights imports with a token that may only see and create the mailboxes of the
// domain, and with one that may only read.
func TestImportRights(t *testing.T) {
	t.Parallel()
	s, _, owner, database := mailhostdtest.ServeWithControl(t)
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, "address,first_name,last_name\nnew@example.com,A,B\n")
	for _, tc := range []struct {
		rights string
		code   int
		want   string
	}{
		{"--plan-only", cli.ExitFailure, "lacks the capability mailbox.create"},
		{"--grant mailbox.view,mailbox.create --domain example.com", cli.ExitOK, ""},
	} {
		var token struct{ Token string }
		_, stdout, stderr := mailhostdtest.Run(t, append([]string{"token", "create", "import", "--database", database}, strings.Fields(tc.rights)...)...)
		if err := json.Unmarshal([]byte(stdout), &token); err != nil {
			t.Fatalf("%s: %v, stderr %s", stdout, err, stderr)
		}
		environ := []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + token.Token}
		code, _, stderr := importJSON(t, environ, file)
		if code != tc.code || !strings.Contains(stderr, tc.want) || strings.Contains(stderr, "again") {
			t.Errorf("%s: exit code %d, stderr %s", tc.rights, code, stderr)
		}
	}
}

// TestImportInBulk imports more mailboxes than an API accepts in one request.
func TestImportInBulk(t *testing.T) {
	t.Parallel()
	s, plane, owner, database := mailhostdtest.ServeWithControl(t)
	rows := strings.Builder{}
	rows.WriteString("local_part;first_name;last_name\n")
	for i := range 2*userimport.ImportBulk + 1 {
		fmt.Fprintf(&rows, "user%d;A;B\n", i)
	}
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, rows.String())
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-mailboxes","status":413,"nth":1}`, nil)
	environ := []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + owner.Token}
	code, r, stderr := importJSON(t, environ, file, "--domain", "example.com")
	if code != cli.ExitOK || r.Domains[0].Created != 2*userimport.ImportBulk+1 {
		t.Errorf("exit code %d, %+v, stderr %s", code, r.Domains, stderr)
	}
	var journal struct{ Items []struct{ Status int } }
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/journal?operation=create-mailboxes", "", &journal)
	if len(journal.Items) != 6 {
		t.Errorf("the requests were %+v; want one that is refused, and five of half its size", journal.Items)
	}
	// Another run needs no request that changes anything.
	if code, r, _ = importJSON(t, nil, file, "--domain", "example.com", "--database", database); code != cli.ExitOK || r.Domains[0].Existing != 2*userimport.ImportBulk+1 {
		t.Errorf("again: exit code %d, %+v", code, r.Domains)
	}
}

// TestImportRefusals checks that a file with a problem changes nothing, and that the error
// says what to do.
func TestImportRefusals(t *testing.T) {
	t.Parallel()
	s, _, owner, database := mailhostdtest.ServeWithControl(t)
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		content, args string
		code          int
		want          string
	}{
		"several domains":  {users, "", cli.ExitFailure, "has several domains: example.com (4), other.example (1); choose with --domain"},
		"no such domain":   {users, "--domain other.example", cli.ExitFailure, "the account has no domain other.example (it has example.com, xn--bcher-kva.example); add it with a mailhost_domain"},
		"invalid rows":     {"address,first_name,last_name\nnew@example.com,A,B\nNEW@example.com,A,B\n", "", cli.ExitFailure, "1 row can't become mailboxes, so nothing was imported; correct them in the file, or leave them out with --skip-invalid"},
		"a wrong domain":   {users, "--domain exmaple.com", cli.ExitFailure, "has no row of exmaple.com; it has example.com (4), other.example (1)"},
		"a wrong one more": {users, "--domain example.com --domain exmaple.com", cli.ExitFailure, "has no row of exmaple.com; it has example.com (4), other.example (1)"},
		"wrong and bad":    {users + "No,Name,,\r\nA,B,at-sign,\r\n", "--domain exmaple.com --skip-invalid", cli.ExitFailure, "has no row of exmaple.com; it has example.com (4), other.example (1)"},
		"wrong, with HCL":  {users + "No,Name,,\r\n", "--domain exmaple.com --skip-invalid --hcl " + filepath.Join(dir, "hcl"), cli.ExitFailure, "has no row of exmaple.com"},
		"no rows":          {"address,first_name,last_name\n", "--domain example.com", cli.ExitFailure, "has no row of example.com; it has 0 rows without a domain"},
		"only bad rows":    {"address,first_name,last_name\nj\u00f6@example.com,A,B\n", "--domain example.com", cli.ExitFailure, "1 row can't become mailboxes"},
		"a workbook":       {"PK\x03\x04\xff", "", cli.ExitFailure, `is a workbook, not a CSV file; open it in the spreadsheet and save it as "CSV UTF-8"`},
		"a code page":      {"address,first_name,last_name\nz@example.com,Zo\xeb,M\n", "", cli.ExitFailure, `line 2: the text is not in UTF-8; save the file as "CSV UTF-8", or name its encoding, for instance --encoding windows-1252`},
		"other headers":    {"Mail;Vorname;Nachname\n", "", cli.ExitFailure, "add --column first_name=HEADER --column last_name=HEADER"},
		"an unknown field": {users, "--column login=Mail", cli.ExitUsage, "there is no field \"login\"; the fields are address, local_part"},
		"an encoding":      {users, "--encoding utf-7", cli.ExitUsage, "--encoding: the encoding \"utf-7\" is unknown"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".csv")
		mailhostdtest.WriteFile(t, file, tc.content)
		code, _, stderr := importJSON(t, nil, append([]string{file, "--database", database}, strings.Fields(tc.args)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit code %d, stderr %s", name, code, stderr)
		}
	}
	s.As(t, owner).Get("/mailboxes").Is("total", 2)
	code, r, stderr := importJSON(t, nil, filepath.Join(dir, "invalid-rows.csv"), "--database", database, "--skip-invalid")
	if code != cli.ExitOK || r.InvalidRows != 1 || r.Domains[0].Created != 1 {
		t.Errorf("--skip-invalid: exit code %d, %+v, stderr %s", code, r, stderr)
	}
}

// TestImportDecomposed imports a file of macOS, whose names Terraform would compose.
func TestImportDecomposed(t *testing.T) {
	t.Parallel()
	s, _, owner, database := mailhostdtest.ServeWithControl(t)
	decomposed := "address,first_name,last_name\nnew@example.com,Zoe\u0308,Cafe\u0301\nold@example.com,Chloe\u0301,B\n"
	s.As(t, owner).Post("/mailboxes", map[string]any{"domain": "example.com", "local_part": "old", "first_name": "Chloe\u0301", "last_name": "B"})
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, decomposed)
	code, r, stderr := importJSON(t, nil, file, "--domain", "example.com", "--database", database)
	if d := r.Domains[0]; code != cli.ExitOK || d.Created != 1 || d.Existing != 1 || d.OtherNames != 0 {
		t.Errorf("exit code %d, %+v, stderr %s", code, *d, stderr)
	}
	s.As(t, owner).Get("/mailboxes/new@example.com").Is("first_name", "Zo\u00eb")
}

// TestImportText checks what a person reads.
func TestImportText(t *testing.T) {
	t.Parallel()
	_, _, _, database := mailhostdtest.ServeWithControl(t)
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, users+"No,Name,,\r\n")
	_, stdout, _ := mailhostdtest.Run(t, "import", file, "--domain", "example.com", "--database", database, "--no-json")
	want := file + `: 6 rows in UTF-8, separated by commas
  address       Email Address [Required]
  first_name    First Name [Required]
  last_name     Last Name [Required]
  status        Status [READ ONLY]
example.com: 2 to create, 2 exist already
  1 of them with other names, which stay as they are
Left out, other domains: other.example (1)
Not active at the old host: 1 user; --active-only leaves them out
line 7: has no address; fill it in, or remove the row
Nothing was changed.
`
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Error(diff)
	}
	_, stdout, _ = mailhostdtest.Run(t, "import", file, "--domain", "example.com", "--database", database, "--no-json", "--active-only")
	if !strings.Contains(stdout, "not active at the old host: 1 user;") || !strings.Contains(stdout, "\n  john@example.com\n") {
		t.Errorf("--active-only prints\n%s", stdout)
	}
	// A file can be checked before there is an account.
	mailhostdtest.WriteFile(t, file, users)
	code, stdout, stderr := mailhostdtest.Run(t, "import", file, "--domain", "example.com", "--dry-run", "--no-json")
	if code != cli.ExitOK || !strings.Contains(stdout, "example.com: 4 valid rows\n") || !strings.Contains(stdout, "not compared with an account") {
		t.Errorf("without an account: exit code %d, stderr %s, stdout\n%s", code, stderr, stdout)
	}
}

// TestImportHCL writes files that Terraform can read, never replaces the configuration, and
// replaces a list only with --overwrite.
func TestImportHCL(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	file := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, file, users)
	hcl := func(more ...string) (int, string) {
		code, _, stderr := importJSON(t, nil, append([]string{file, "--domain", "example.com", "--hcl", dir}, more...)...)
		return code, stderr
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	const list = "local_part,first_name,last_name\njane,Jane,Doe\njohn,Johnny,Roe\nj.doe,J.,Doe\nzoe,Zoë,\"Müller, M.A.\"\n"
	if code, stderr := hcl("--dry-run"); code != cli.ExitOK || stderr != "" {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	} else if _, err := os.Stat(dir); err == nil {
		t.Error("the dry run made the folder")
	}
	for range 2 {
		if code, stderr := hcl(); code != cli.ExitOK || stderr != "" {
			t.Fatalf("exit code %d, stderr %s", code, stderr)
		}
		if got := read("example.com.csv"); got != list {
			t.Errorf("the list is %q; want %q", got, list)
		}
		if got := read("example.com.tf"); !strings.Contains(got, `resource "mailhost_mailbox_set" "example_com"`) ||
			!strings.Contains(got, `parse_users(file("${path.module}/example.com.csv"), "example.com")`) {
			t.Errorf("the configuration is %s", got)
		}
	}
	const edited = "local_part,first_name,last_name\n"
	mailhostdtest.WriteFile(t, filepath.Join(dir, "example.com.csv"), edited)
	mailhostdtest.WriteFile(t, filepath.Join(dir, "example.com.tf"), "# mine\n")
	if code, stderr := hcl(); code != cli.ExitFailure || !strings.Contains(stderr, "exists with other content") || read("example.com.csv") != edited {
		t.Errorf("exit code %d, stderr %s, list %q", code, stderr, read("example.com.csv"))
	}
	victim := filepath.Join(t.TempDir(), "victim")
	mailhostdtest.WriteFile(t, victim, edited)
	if err := errors.Join(os.Remove(filepath.Join(dir, "example.com.csv")), os.Symlink(victim, filepath.Join(dir, "example.com.csv"))); err != nil {
		t.Fatal(err)
	}
	if code, stderr := hcl("--overwrite"); code != cli.ExitOK || read("example.com.csv") != list || read("example.com.tf") != "# mine\n" {
		t.Errorf("--overwrite: exit code %d, stderr %s, list %q", code, stderr, read("example.com.csv"))
	}
	mailhostdtest.WriteFile(t, file, strings.Replace(users, "Jane,Doe", "=1+1,-", 1))
	if code, stderr := hcl("--overwrite"); code != cli.ExitFailure || !strings.Contains(stderr, "the names of jane@example.com as formulas") || read("example.com.csv") != list {
		t.Errorf("a formula: exit code %d, stderr %s, list %q", code, stderr, read("example.com.csv"))
	}
	mailhostdtest.WriteFile(t, file, strings.Replace(users, "Jane,Doe", "Jane,-", 1))
	if code, stderr := hcl("--overwrite"); code != cli.ExitOK {
		t.Errorf("a hyphen: exit code %d, stderr %s", code, stderr)
	}
	if content, err := os.ReadFile(victim); string(content) != edited {
		t.Errorf("what a symbolic link led to is %q, %v", content, err)
	}
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
			if code, _, stderr := importJSON(t, nil, file, "--domain", "example.com", "--hcl", dir); code != cli.ExitOK {
				t.Fatalf("exit code %d, stderr %s", code, stderr)
			}
			got, err := os.ReadFile(filepath.Join(dir, "example.com.tf"))
			if err != nil || !strings.Contains(string(got), test.want) {
				t.Errorf("%v, the configuration is %s; want %s", err, got, test.want)
			}
		})
	}
}
