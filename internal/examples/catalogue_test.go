package examples_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"gotest.tools/v3/assert"
)

// root is the top of the repository, examples the folder of the examples.
const (
	root     = "../.."
	examples = root + "/examples"
)

// kind is a kind of example. It has a folder for each type of the provider.
type kind struct {
	// folder is the kind's folder, as tfplugindocs expects it.
	folder string
	// pattern matches the examples; each file is a configuration of its own.
	pattern string
	// others are additional files that a folder may have.
	others []string
	// types returns the names of the provider's types.
	types func(*tfjson.ProviderSchema) []string
}

// importFiles are the import examples, for the command and for both forms of an import
// block.
var importFiles = []string{"import.sh", "import-by-string-id.tf", "import-by-identity.tf"}

var kinds = []kind{
	{"resources", "resource*.tf", importFiles, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.ResourceSchemas)) }},
	{"data-sources", "data-source*.tf", nil, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.DataSourceSchemas)) }},
	{"ephemeral-resources", "ephemeral-resource*.tf", nil, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.EphemeralResourceSchemas)) }},
	{"functions", "function*.tf", nil, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.Functions)) }},
	{"actions", "action*.tf", nil, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.ActionSchemas)) }},
	{"list-resources", "list-resource*.tfquery.hcl", nil, func(p *tfjson.ProviderSchema) []string { return slices.Sorted(maps.Keys(p.ListResourceSchemas)) }},
}

// example is a file with a configuration.
type example struct {
	kind kind
	// typeName is the type that the example shows.
	typeName string
	file     string
}

// name returns the example's name for a subtest.
func (e example) name() string {
	return strings.TrimPrefix(filepath.ToSlash(e.file), examples+"/"+e.kind.folder+"/")
}

// all returns the examples in the folders of these kinds.
func all(t *testing.T, folders ...string) (found []example) {
	t.Helper()
	for _, k := range kinds {
		if !slices.Contains(folders, k.folder) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(examples, k.folder, "*", k.pattern))
		assert.NilError(t, err)
		for _, file := range files {
			found = append(found, example{k, filepath.Base(filepath.Dir(file)), file})
		}
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	assert.NilError(t, err)
	return string(text)
}

func list(t *testing.T, dir string) []fs.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	assert.NilError(t, err)
	return entries
}

// TestEveryExampleIsTested fails for a folder that is not named after a type, and for a file that
// neither the generator of the documentation nor a test reads.
func TestEveryExampleIsTested(t *testing.T) {
	t.Parallel()
	p := schemas(t).schema
	for _, k := range kinds {
		for _, dir := range list(t, filepath.Join(examples, k.folder)) {
			at := filepath.Join(examples, k.folder, dir.Name())
			if types := k.types(p); !slices.Contains(types, dir.Name()) {
				t.Errorf("%s is not named after a type of the provider; there are %s", at, strings.Join(types, ", "))
				continue
			}
			for _, file := range list(t, at) {
				matches, err := filepath.Match(k.pattern, file.Name())
				assert.Check(t, err == nil && (matches || slices.Contains(k.others, file.Name())), "%s/%s is read by nothing: name it after the pattern %s", at, file.Name(), k.pattern)
			}
		}
	}
}
