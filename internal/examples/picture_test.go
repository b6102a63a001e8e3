package examples_test

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// planPicture is the first picture of the README.
const planPicture = ".github/images/plan.svg"

// freeze draws a terminal. The readers' own fonts keep the picture small.
var freeze = []string{
	"go", "run", "github.com/charmbracelet/freeze@v0.2.2", "--language", "ansi", "--theme", "github-dark", "--background", "#0d1117",
	"--font.family", "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", "--font.size", "14", "--line-height", "1.3", "--padding", "24", "--border.radius", "8",
}

// TestAccPlanPicture cuts a list of people off, and compares the plan, which has to refuse it, with the
// picture. With -update it draws the picture.
func TestAccPlanPicture(t *testing.T) {
	w := newWorkspace(t)
	if product, _, err := localcli.ParseVersion(w.must(t, "version")); err != nil || product != "Terraform" {
		t.Skipf("the picture is of Terraform, and the CLI is %s", product)
	}
	people := read(t, filepath.Join(examples, "quickstart", "mailboxes.csv"))
	w.write(t, "people.csv", people)
	w.write(t, "main.tf", embedded+`
resource "mailhost_domain" "main" {
  name = "example.com"
  `+contact+`}

resource "mailhost_mailbox_set" "people" {
  domain    = mailhost_domain.main.name
  mailboxes = provider::mailhost::parse_users(file("people.csv"), "example.com")
}
`)
	w.must(t, "init")
	w.must(t, "apply", "-auto-approve")
	w.write(t, "people.csv", people[:strings.Index(people, "example.com,joao")])

	cmd := exec.CommandContext(t.Context(), w.cli, "plan")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	assert.Assert(t, err != nil, "a list that lost half of its people is not refused:\n%s", out)
	screen := "\x1b[1m$ terraform plan\x1b[0m\n" + regexp.MustCompile(`.*(Refreshing state|Reading|Read complete).*\n`).ReplaceAllString(string(out), "")
	picture := filepath.Join(root, planPicture)
	if golden.FlagUpdate() {
		source := filepath.Join(w.dir, "screen.ansi")
		assert.NilError(t, os.WriteFile(source, []byte(strings.TrimSpace(screen)+"\n"), 0o600))
		draw := exec.CommandContext(t.Context(), freeze[0], append(freeze[1:], "--output", picture, source)...)
		log, err := draw.CombinedOutput()
		assert.NilError(t, err, "%s", log)
	}
	words := strings.Fields(colours.ReplaceAllString(screen, ""))
	drawn := regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`).ReplaceAllString(read(t, picture), " ")
	assert.Check(t, is.Equal(strings.Join(strings.Fields(html.UnescapeString(drawn)), " "), strings.Join(words, " ")), "%s is out of date; run make pictures", planPicture)
}
