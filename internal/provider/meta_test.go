package provider_test

import (
	"maps"
	"os"
	"path/filepath"
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
			if file := filepath.Join(r.examples(), name); missing(file) {
				t.Errorf("%s has no example: write %s, as other types have it; package internal/examples tests it, and make generate shows it in the page", r, file)
			}
		}
		assert.Check(t, !missing(r.page()), "%s has no page: run make generate, and commit %s", r, r.page())
	}
}
