package provider_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// registered is a type that the provider offers.
type registered struct {
	// kind is the name of the folder of its pages and examples.
	kind string
	name string
}

func (r registered) String() string { return r.kind + " " + r.name }

// page returns the path of the type's page in docs.
func (r registered) page() string {
	return filepath.Join("docs", r.kind, strings.TrimPrefix(r.name, "mailhost_")+".md")
}

// examples returns the folder of the type's examples.
func (r registered) examples() string { return filepath.Join("examples", r.kind, r.name) }

// missing reports whether the repository has no such file.
func missing(file string) bool {
	_, err := os.Stat(filepath.Join("../..", file))
	return err != nil
}

// everything returns all types that the provider offers.
func everything(t *testing.T) (all []registered) {
	t.Helper()
	server := provider.NewServer(provider.New("test")())
	s, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	assert.NilError(t, err)
	for kind, names := range map[string][]string{
		"resources":           slices.Collect(maps.Keys(s.ResourceSchemas)),
		"data-sources":        slices.Collect(maps.Keys(s.DataSourceSchemas)),
		"list-resources":      slices.Collect(maps.Keys(s.ListResourceSchemas)),
		"ephemeral-resources": slices.Collect(maps.Keys(s.EphemeralResourceSchemas)),
		"actions":             slices.Collect(maps.Keys(s.ActionSchemas)),
		"functions":           slices.Collect(maps.Keys(s.Functions)),
	} {
		assert.Check(t, len(names) != 0, "the provider offers no %s", kind)
		for _, name := range names {
			all = append(all, registered{kind, name})
		}
	}
	return all
}

// mainFiles maps a kind to the example that its pages show.
var mainFiles = map[string][]string{
	"resources":           {"resource.tf", "import.sh", "import-by-string-id.tf", "import-by-identity.tf"},
	"data-sources":        {"data-source.tf"},
	"list-resources":      {"list-resource.tfquery.hcl"},
	"ephemeral-resources": {"ephemeral-resource.tf"},
	"actions":             {"action.tf"},
	"functions":           {"function.tf"},
}

// TestEverythingHasItsPages checks that every type has a page and an example.
func TestEverythingHasItsPages(t *testing.T) {
	t.Parallel()
	for _, r := range everything(t) {
		for _, name := range mainFiles[r.kind] {
			file := filepath.Join(r.examples(), name)
			assert.Check(t, !missing(file), "%s has no example: write %s, as other types have it; package internal/examples tests it, and make generate shows it in the page", r, file)
		}
		assert.Check(t, !missing(r.page()), "%s has no page: run make generate, and commit %s", r, r.page())
	}
}

// TestEverythingIsDescribed checks that every type and attribute has a description for the
// documentation.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	checkBlock(t, "provider", all.Provider.Block)
	for typeName, d := range definitions() {
		nouns := d.FieldByName("Nouns").String()
		assert.Check(t, len(operations(typeName)) == 0 || strings.Contains(all.Provider.Block.Description, nouns), "the description in provider.go does not say that the provider manages %s", nouns)
	}
	for kind, of := range map[string]map[string]*tfprotov6.Schema{
		"": all.ResourceSchemas, "data.": all.DataSourceSchemas, "ephemeral.": all.EphemeralResourceSchemas, "list.": all.ListResourceSchemas,
	} {
		for name, s := range of {
			checkBlock(t, kind+name, s.Block)
		}
	}
	for name, s := range all.ActionSchemas {
		checkBlock(t, "action."+name, s.Schema.Block)
	}
	for name, f := range all.Functions {
		checkFunction(t, "function "+name, f)
	}
	checkIdentities(t)
}

func checkBlock(t *testing.T, name string, b *tfprotov6.SchemaBlock) {
	t.Helper()
	checkText(t, name, b.Description, b.DescriptionKind)
	checkAttributes(t, name, b.Attributes)
	assert.Check(t, len(b.BlockTypes) == 0, "%s has blocks: an attribute can be computed from others, a block can't", name)
}

func checkAttributes(t *testing.T, name string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	for _, a := range attributes {
		at := name + "." + a.Name
		checkText(t, at, a.Description, a.DescriptionKind)
		if a.NestedType != nil {
			checkAttributes(t, at, a.NestedType.Attributes)
		}
	}
}

func checkFunction(t *testing.T, name string, f *tfprotov6.Function) {
	t.Helper()
	checkText(t, name, f.Description, f.DescriptionKind)
	assert.Check(t, f.Summary != "" && !strings.Contains(f.Summary, "\n"), "%s needs a Summary of one line; it is %q", name, f.Summary)
	parameters := f.Parameters
	if f.VariadicParameter != nil {
		parameters = append(parameters, f.VariadicParameter)
	}
	for _, p := range parameters {
		checkText(t, name+"("+p.Name+")", p.Description, p.DescriptionKind)
	}
}

// checkIdentities checks the descriptions of identity attributes, which are plain text.
func checkIdentities(t *testing.T) {
	t.Helper()
	server := provider.NewServer(provider.New("test")())
	resp, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	assert.NilError(t, err)
	for name, s := range resp.IdentitySchemas {
		for _, a := range s.IdentityAttributes {
			checkText(t, "identity of "+name+"."+a.Name, a.Description, tfprotov6.StringKindMarkdown)
		}
	}
}

// aboutChanges matches what only the description of a resource's attribute says.
var aboutChanges = regexp.MustCompile(`(?i)\b(changing|can be changed|replac)`)

// checkText checks that a description consists of sentences in Markdown.
func checkText(t *testing.T, name, text string, kind tfprotov6.StringKind) {
	t.Helper()
	switch {
	case strings.TrimSpace(text) == "":
		t.Errorf("%s has no description: give it a MarkdownDescription that helps somebody who has never seen the product", name)
	case kind != tfprotov6.StringKindMarkdown && !strings.Contains(name, ".timeouts"):
		t.Errorf("%s is not described in Markdown: set its MarkdownDescription", name)
	case !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "```"):
		t.Errorf("%s: the description %q is no sentence", name, text)
	case strings.HasPrefix(name, "data.") && aboutChanges.MatchString(text):
		t.Errorf("%s: nobody changes a data source, but its description is that of the resource: %q. Describe the field in the contract, or the attribute in its package", name, text)
	}
}
