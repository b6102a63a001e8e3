package examples_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// googleExport is a user export of Google Workspace, as Excel saves it again: a byte order mark,
// semicolons, and a cell with line breaks.
func googleExport(users int) string {
	var b strings.Builder
	b.WriteString("\ufeffFirst Name [Required];Last Name [Required];Email Address [Required];Status [READ ONLY];Recovery Email\r\n")
	for i := range users {
		recovery := "private@example.net"
		if i == users-1 {
			recovery = "\"private@example.net\nprivate@example.org\""
		}
		fmt.Fprintf(&b, "Zoë;\"Müller; %d\";User%d@Example.com;Active;%s\r\n", i, i, recovery)
	}
	return b.String()
}

// TestAccMoving follows the guide for a move from another mail host, as a rehearsal: a
// damaged export is refused with its lines, the mended one becomes a set, by each of the
// three ways, and the MX records are switched and restored.
func TestAccMoving(t *testing.T) {
	w := newWorkspace(t)
	const guide = "moving-from-google-workspace.md"
	blocks, _ := guideBlocks(t, guide, 6)
	main, set, builtIn, zone, password, rehearsal := blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5]
	account := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindStringSubmatch(read(t, filepath.Join(root, "docs", "guides", guide)))
	before, after, ok := strings.Cut(main, "provider \"mailhost\" {} #")
	_, after, _ = strings.Cut(after, "\n")
	assert.Assert(t, account != nil && ok, "the guide has no account.json, or another provider block")
	importing := func(code int, wants []string, args ...string) {
		t.Helper()
		out, got := w.command(t, mailhostd(), append([]string{"import", "users.csv", "--domain", "example.com"}, args...)...)
		for _, want := range wants {
			assert.Check(t, got == code && strings.Contains(out, want), "import %v ended with %d, want %d and %q:\n%s", args, got, code, want, out)
		}
	}
	apply := func(want string) {
		t.Helper()
		assert.Check(t, is.Contains(w.must(t, "apply", "-auto-approve"), "Resources: "+want), "the apply is not %q", want)
	}

	w.write(t, "account.json", account[1])
	w.write(t, "main.tf", before+rehearsal+after)
	w.must(t, "init")
	assert.Check(t, is.Contains(w.must(t, "apply", "-auto-approve"), "The plan adopts the domain"), "the domain is not adopted")

	const users = 1200
	w.write(t, "users.csv", googleExport(users)+"Jane;Doe;user7@example.com;Active;\r\nInfo;;info@example.com;Active;\r\nEve;X;eve@exmaple.com;Active;\r\n")
	importing(1, []string{
		fmt.Sprintf(`"line": %d`, users+3), "line 9 has this address already", fmt.Sprintf(`"line": %d`, users+4), "the last name is empty",
		`"exmaple.com": 1`, "2 rows can't become mailboxes",
	}, "--hcl", ".")
	w.write(t, "users.csv", googleExport(users))
	importing(0, []string{fmt.Sprintf(`"users": %d`, users)}, "--dry-run")

	importing(0, []string{"example.com.csv", "example.com.tf"}, "--hcl", ".")
	if list := read(t, filepath.Join(w.dir, "example.com.csv")); strings.Contains(list, "private@") {
		t.Error("the cleaned file has the private addresses")
	}
	assert.Check(t, is.Contains(read(t, filepath.Join(w.dir, "example.com.tf")), "domain = mailhost_domain.main.name\n"), "the set does not refer to the domain")
	apply("1 added, 0 changed, 0 destroyed")
	w.planIsEmpty(t)

	// A spreadsheet saves the list again.
	list := read(t, filepath.Join(w.dir, "example.com.csv"))
	w.write(t, "example.com.csv", "\ufeff"+regexp.MustCompile(`(?m)^(.*),(.*),(.*)$`).ReplaceAllString(list, "$1;$2;\"$3\"\r"))
	w.planIsEmpty(t)

	// The export itself is the same list.
	w.write(t, "example.com.tf", strings.Replace(set, `"staff"`, `"example_com"`, 1))
	w.planIsEmpty(t)
	for row, want := range map[string]string{
		"Eve;X;eve@exmaple.com;Active;":  "eve@exmaple.com: is in another domain, probably a misspelled one",
		"Info;;info@example.com;Active;": "the last name is empty",
	} {
		w.write(t, "users.csv", googleExport(users)+row+"\r\n")
		out, code := w.run(t, "plan")
		if out = strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " "); code == 0 || !strings.Contains(out, want) || strings.Contains(out, "private@") {
			t.Errorf("the row %s ended with %d, without %q, or the error prints the file:\n%.5000s", row, code, want, out)
		}
	}
	w.write(t, "users.csv", googleExport(users+1))
	importing(0, []string{`"created": 1`}, "--database", ".mailhost/mailhost.db")
	importing(0, []string{`"created": 0`}, "--database", ".mailhost/mailhost.db")
	w.write(t, "example.com.tf", strings.NewReplacer(`"staff"`, `"example_com"`, "main.name\n", "main.name\n  on_existing = \"adopt\"\n").Replace(set))
	apply("0 added, 1 changed, 0 destroyed")
	w.planIsEmpty(t)

	// Mail stays at Google until the line is removed, and goes back if it is restored.
	w.write(t, "builtin.tf", builtIn)
	atTheAccount := func(want bool) {
		t.Helper()
		w.must(t, "apply", "-auto-approve") // the data source sees the zone as it is now
		out := w.must(t, "output", "built_in")
		assert.Check(t, strings.Contains(out, "MX 10 mx1.mailhost.example") == want, "the account has its own MX records: %t, want %t\n%s", !want, want, out)
	}
	atTheAccount(true)
	w.write(t, "zone.tf", zone)
	apply("1 added, 0 changed, 0 destroyed")
	atTheAccount(false)
	switched := regexp.MustCompile(`(?m)^.*"@ MX".*\n`).ReplaceAllString(zone, "")
	w.write(t, "zone.tf", switched)
	apply("0 added, 1 changed, 0 destroyed")
	atTheAccount(true)
	w.write(t, "zone.tf", zone)
	apply("0 added, 1 changed, 0 destroyed")
	atTheAccount(false)

	w.write(t, "migration.tf", password)
	apply("1 added, 0 changed, 0 destroyed")
	w.write(t, "migration.tf", "")
	apply("0 added, 0 changed, 1 destroyed")
	w.planIsEmpty(t)
}
