package examples_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
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

// resourceTable matches a table of a guide with what holds for each resource.
var resourceTable = regexp.MustCompile(`(?m)^\| resource (\|.*\n)+`)

// TestGuidesNameEveryResource checks that each table of resources has all of them.
func TestGuidesNameEveryResource(t *testing.T) {
	t.Parallel()
	tables := 0
	for _, page := range markdown(t, "../../docs/guides") {
		for _, table := range resourceTable.FindAllString(read(t, page), -1) {
			tables++
			header, _, _ := strings.Cut(table, "\n")
			for name := range schemas(t).schema.ResourceSchemas {
				assert.Check(t, strings.Contains(table, "`"+name+"`"), "the table %q of %s does not mention %s: add it in templates, and run make generate", header, page, name)
			}
		}
	}
	assert.Check(t, tables >= 4, "only %d tables were found", tables)
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

// TestExistingGuide checks that the link of the errors about existing objects leads to a section of a guide,
// and that the section contains each way out.
func TestExistingGuide(t *testing.T) {
	t.Parallel()
	page, anchor, _ := strings.Cut(strings.TrimPrefix(service.ExistingGuide, report.Guides), "#")
	heading := "\n## " + strings.ToUpper(anchor[:1]) + strings.ReplaceAll(anchor[1:], "-", " ") + "\n"
	_, section, found := strings.Cut(read(t, "../../templates/guides/"+page+".md"), heading)
	assert.Assert(t, found, "the guide %s has no heading %q", page, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, way := range []string{
		"`with`", `on_existing = "adopt"`, "terraform untaint", "`-replace`", "replace_triggered_by", "`moved` block", "`count`", "two keys of `for_each`",
		"`retired`", "`ignore`", "destroy = false", "deposed", "terraform state rm", "Two applies", "removed {", "import {",
	} {
		assert.Check(t, strings.Contains(section, way), "the section %q of the guide %s does not mention %s", anchor, page, way)
	}
}

// mentions reports references to types, attributes and functions that the provider does
// not have.
func (c *checker) mentions(body *hclsyntax.Body) (diags hcl.Diagnostics) {
	references, calls := expressions(body)
	for _, t := range references {
		diags = append(diags, c.mention(t)...)
	}
	for _, call := range calls {
		name, ours := strings.CutPrefix(call.Name, "provider::mailhost::")
		if _, known := c.schema.Functions[name]; ours && !known {
			diags = append(diags, problem(call.NameRange, "The provider has no function "+name, "It has "+strings.Join(slices.Sorted(maps.Keys(c.schema.Functions)), ", ")+".")...)
		}
	}
	return diags
}

// mention checks one reference, such as data.mailhost_account.this.id.
func (c *checker) mention(t hcl.Traversal) hcl.Diagnostics {
	blockType, path := "resource", attributesIn(t)
	if slices.Contains([]string{"data", "ephemeral", "action", "list"}, path[0]) {
		blockType, path = path[0], path[1:]
	}
	if len(path) < 2 || !strings.HasPrefix(path[0], "mailhost_") {
		return nil
	}
	schema := c.schemaOf(blockType, path[0])
	switch {
	case schema == nil:
		return problem(t.SourceRange(), fmt.Sprintf("The provider has no %s %s", blockType, path[0]), "Check the name.")
	case len(path) < 3 || blockType == "list" || blockType == "action":
		return nil
	}
	return lacks(t, schema.Attributes, path[2:])
}

// lacks reports the first attribute of a path that does not exist.
func lacks(t hcl.Traversal, attributes map[string]*tfjson.SchemaAttribute, path []string) hcl.Diagnostics {
	a := attributes[path[0]]
	switch {
	case a == nil:
		return problem(t.SourceRange(), "There is no attribute "+path[0], "There are "+strings.Join(slices.Sorted(maps.Keys(attributes)), ", ")+".")
	case len(path) > 1 && a.AttributeNestedType != nil && a.AttributeNestedType.NestingMode != tfjson.SchemaNestingModeMap:
		return lacks(t, a.AttributeNestedType.Attributes, path[1:])
	}
	return nil
}

// attributesIn returns the names in a reference, without indexes.
func attributesIn(t hcl.Traversal) []string {
	found := []string{t.RootName()}
	for _, step := range t[1:] {
		if a, ok := step.(hcl.TraverseAttr); ok {
			found = append(found, a.Name)
		}
	}
	return found
}

// sourcePath is a path in the repository between backticks: a file, or a folder with a
// slash at its end.
var sourcePath = regexp.MustCompile("`((?:apiserver|internal|templates|examples|docs)/[\\w./-]*(?:\\.\\w+|/))`")

// code is text that Markdown does not interpret.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

// link matches a relative link in Markdown and captures it without its anchor.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)

// TestLinks follows the links of every page and looks for the source files that they name.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := markdown(t, "../../docs", examples)
	for _, pattern := range []string{"../../*.md", "../../apiserver/cmd/mailhostd/*.md"} {
		found, err := filepath.Glob(pattern)
		assert.Assert(t, err == nil && len(found) != 0, "%s: %q, error %v", pattern, found, err)
		pages = append(pages, found...)
	}
	for _, page := range pages {
		exists := func(path string) {
			_, err := os.Stat(filepath.FromSlash(path))
			assert.Check(t, err == nil, "%s names a file that does not exist: %s", page, path)
		}
		text := read(t, page)
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			exists(filepath.Dir(page) + "/" + found[1])
		}
		for _, found := range sourcePath.FindAllStringSubmatch(text, -1) {
			exists("../../" + found[1])
		}
	}
}

// threatTest is a test in the threat model, with its folder.
var threatTest = regexp.MustCompile("`(Test\\w+)` in `([\\w/]+)`")

// TestThreatModel checks that the threats name tests, and that each test exists.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "../../THREAT-MODEL.md"), "## Attacks")
	text, _, _ = strings.Cut(text, "\n## ")
	tests := threatTest.FindAllStringSubmatch(text, -1)
	assert.Check(t, len(tests) >= 30 && len(tests) == strings.Count(text, "`Test"), "%d of %d tests have a folder", len(tests), strings.Count(text, "`Test"))
	for _, test := range tests {
		files, err := filepath.Glob(filepath.Join("../..", test[2], "*_test.go"))
		if err != nil || !slices.ContainsFunc(files, func(file string) bool { return strings.Contains(read(t, file), "\nfunc "+test[1]+"(t *testing.T)") }) {
			t.Errorf("there is no %s in %s", test[1], test[2])
		}
	}
}
