package provider_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	fwprovider "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// registered is a type that the provider offers.
type registered struct {
	// kind is the name of the folder of its pages and of its examples.
	kind string
	name string
	// dir is the folder of the package that makes it.
	dir string
}

func (r registered) String() string { return r.kind + " " + r.name }

// page is the type's page in docs.
func (r registered) page() string {
	return filepath.Join("docs", r.kind, strings.TrimPrefix(r.name, "mailhost_")+".md")
}

// examples is the folder of the type's examples.
func (r registered) examples() string { return filepath.Join("examples", r.kind, r.name) }

// missing reports whether there is no such file in the repository.
func missing(file string) bool {
	_, err := os.Stat(filepath.Join("../..", file))
	return err != nil
}

// everything returns all that the provider offers.
func everything(t *testing.T) (all []registered) {
	t.Helper()
	p := provider.New("test")()
	for _, construct := range p.Resources(t.Context()) {
		var meta resource.MetadataResponse
		construct().Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
		all = append(all, registered{"resources", meta.TypeName, dirOf(t, construct)})
	}
	for _, construct := range p.DataSources(t.Context()) {
		var meta datasource.MetadataResponse
		construct().Metadata(t.Context(), datasource.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
		all = append(all, registered{"data-sources", meta.TypeName, dirOf(t, construct)})
	}
	if p, ok := p.(fwprovider.ProviderWithListResources); ok {
		for _, construct := range p.ListResources(t.Context()) {
			var meta resource.MetadataResponse
			construct().Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
			all = append(all, registered{"list-resources", meta.TypeName, dirOf(t, construct)})
		}
	}
	if p, ok := p.(fwprovider.ProviderWithEphemeralResources); ok {
		for _, construct := range p.EphemeralResources(t.Context()) {
			var meta ephemeral.MetadataResponse
			construct().Metadata(t.Context(), ephemeral.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
			all = append(all, registered{"ephemeral-resources", meta.TypeName, dirOf(t, construct)})
		}
	}
	if p, ok := p.(fwprovider.ProviderWithActions); ok {
		for _, construct := range p.Actions(t.Context()) {
			var meta action.MetadataResponse
			construct().Metadata(t.Context(), action.MetadataRequest{ProviderTypeName: "mailhost"}, &meta)
			all = append(all, registered{"actions", meta.TypeName, dirOf(t, construct)})
		}
	}
	if p, ok := p.(fwprovider.ProviderWithFunctions); ok {
		for _, construct := range p.Functions(t.Context()) {
			var meta function.MetadataResponse
			construct().Metadata(t.Context(), function.MetadataRequest{}, &meta)
			all = append(all, registered{"functions", meta.Name, dirOf(t, construct)})
		}
	}
	return all
}

// dirOf returns the folder of the package that a function is of.
func dirOf(t *testing.T, f any) string {
	t.Helper()
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	_, inside, ok := strings.Cut(name, "/internal/")
	slash := strings.LastIndex(inside, "/")
	dot := strings.Index(inside[slash+1:], ".")
	if !ok || dot < 0 {
		t.Fatalf("what package is %s of?", name)
	}
	return filepath.Join("..", inside[:slash+1+dot])
}

// mainFiles are the examples that the pages show, by kind.
var mainFiles = map[string][]string{
	"resources":           {"resource.tf", "import.sh", "import-by-string-id.tf", "import-by-identity.tf"},
	"data-sources":        {"data-source.tf"},
	"list-resources":      {"list-resource.tfquery.hcl"},
	"ephemeral-resources": {"ephemeral-resource.tf"},
	"actions":             {"action.tf"},
	"functions":           {"function.tf"},
}

// TestEverythingHasItsPages fails for a type without a page or an example.
func TestEverythingHasItsPages(t *testing.T) {
	t.Parallel()
	for _, r := range everything(t) {
		for _, name := range mainFiles[r.kind] {
			if file := filepath.Join(r.examples(), name); missing(file) {
				t.Errorf("%s has no example: write %s, as other types have it; package internal/examples tests it, and make generate shows it in the page", r, file)
			}
		}
		if missing(r.page()) {
			t.Errorf("%s has no page: run make generate, and commit %s", r, r.page())
		}
	}
}

// TestEverythingIsTested fails for a type without an acceptance test, as far as
// the source of its package's tests can tell.
func TestEverythingIsTested(t *testing.T) {
	t.Parallel()
	packages := map[string]*testSource{}
	for _, r := range everything(t) {
		if packages[r.dir] == nil {
			packages[r.dir] = parseTests(t, r.dir)
		}
		for _, missing := range packages[r.dir].lacks(r) {
			t.Errorf("%s: the tests in %s lack %s", r, r.dir, missing)
		}
	}
}
