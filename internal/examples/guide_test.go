package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// csvFile matches a CSV file in a guide.
var csvFile = regexp.MustCompile("(?ms)^```csv\n(.*?)^```$")

// TestAccGettingStarted follows the getting-started guide: it writes all of its files,
// applies them to an embedded account, plans again, and destroys.
//
// It is not parallel, because an embedded account is in the working directory.
func TestAccGettingStarted(t *testing.T) {
	guide := read(t, "../../docs/guides/getting-started.md")
	var main strings.Builder
	for _, block := range fenced.FindAllStringSubmatch(guide, -1) {
		main.WriteString(block[2] + "\n")
	}
	csv := csvFile.FindStringSubmatch(guide)
	assert.Assert(t, csv != nil, "the guide has no mailboxes.csv")
	file := filepath.Join(t.TempDir(), "mailboxes.csv")
	assert.NilError(t, os.WriteFile(file, []byte(csv[1]), 0o600))
	whole := strings.ReplaceAll(main.String(), "${path.module}/mailboxes.csv", filepath.ToSlash(file))
	provider, _, _ := strings.Cut(whole, "\nresource ")
	t.Chdir(t.TempDir())
	t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "mailhost")
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
		{Config: whole},
		{Config: whole, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		{Config: provider}, // plugin-testing can't destroy resources with for_each
	}})
}

// TestGuidesNameEveryResource checks the guides that have tables of all resources.
func TestGuidesNameEveryResource(t *testing.T) {
	t.Parallel()
	for _, guide := range []string{"import", "permissions", "published-api"} {
		text := read(t, "../../docs/guides/"+guide+".md")
		for _, name := range names(schemas(t).schema.ResourceSchemas) {
			assert.Check(t, strings.Contains(text, "`"+name+"`"), "templates/guides/%s.md does not mention %s; add it, and run make generate", guide, name)
		}
	}
}

// TestGuides checks that the index links every guide.
func TestGuides(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("../../docs/guides/*.md")
	assert.Assert(t, err == nil && len(guides) >= 5, "guides %q, error %v", guides, err)
	index := read(t, "../../docs/index.md")
	for _, guide := range guides {
		name := strings.TrimSuffix(filepath.Base(guide), ".md")
		assert.Check(t, strings.Contains(index, "/latest/docs/guides/"+name+")"), "templates/index.md.tmpl does not link the guide %s", name)
	}
}
