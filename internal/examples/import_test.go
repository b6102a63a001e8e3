package examples_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccImport applies the example of each resource and imports its objects with the
// ids of the import examples, which are natural keys. It replaces the sample id in an
// identity with the object's id.
func TestAccImport(t *testing.T) {
	t.Parallel()
	for _, typeName := range names(schemas(t).schema.ResourceSchemas) {
		t.Run(typeName, func(t *testing.T) {
			dir := filepath.Join(root, "resources", typeName)
			byID, byIdentity := importBlock(t, filepath.Join(dir, "import-by-string-id.tf")), importBlock(t, filepath.Join(dir, "import-by-identity.tf"))
			address, key := importCommand(t, filepath.Join(dir, "import.sh"))
			assert.Assert(t, byID.to == address && byIdentity.to == address, "the examples import to %s, %s and %s", address, byID.to, byIdentity.to)
			text := destroyable(read(t, filepath.Join(dir, "resource.tf")))
			s := newServer(t, text)
			var id string
			same := func(states []*terraform.InstanceState) error {
				if len(states) != 1 || states[0].ID != id {
					return fmt.Errorf("imported %v, not %s", states, id)
				}
				return nil
			}
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
				{
					Config: s.ProviderConfig() + text,
					Check: func(state *terraform.State) error {
						found, ok := state.RootModule().Resources[address]
						if !ok {
							return fmt.Errorf("resource.tf has no %s, to which the examples import", address)
						}
						id = found.Primary.ID
						importByIdentity(t, s, typeName, id, byIdentity.identity)
						return nil
					},
				},
				{ResourceName: address, ImportState: true, ImportStateId: byID.id, ImportStateCheck: same},
				{ResourceName: address, ImportState: true, ImportStateId: key, ImportStateCheck: same},
			}})
		})
	}
}

// importByIdentity imports through the plugin protocol, because a CLI before 1.12 can't.
func importByIdentity(t *testing.T, s *acctest.Server, typeName, id string, identity map[string]string) {
	t.Helper()
	attributes := map[string]any{}
	for name := range identity {
		attributes[name] = map[string]string{"id": id, "account_id": s.AccountID}[name]
	}
	p := s.Protocol(t, "")
	o, diags := p.Import(typeName, "", attributes)
	p.NoErrors(diags)
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	assert.Check(t, o.Text("id") == id, "imported %s by the identity of %s", o.Text("id"), id)
}

// importing is an import block.
type importing struct {
	to, id   string
	identity map[string]string
}

// importBlock reads a file with one import block.
func importBlock(t *testing.T, name string) importing {
	t.Helper()
	text := []byte(read(t, name))
	file, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	assert.Assert(t, !diags.HasErrors(), diags)
	var parsed struct {
		Import struct {
			To       hcl.Expression    `hcl:"to"`
			ID       string            `hcl:"id,optional"`
			Identity map[string]string `hcl:"identity,optional"`
		} `hcl:"import,block"`
	}
	if diags := gohcl.DecodeBody(file.Body, nil, &parsed); diags.HasErrors() {
		t.Fatal(diags)
	}
	block := importing{string(parsed.Import.To.Range().SliceBytes(text)), parsed.Import.ID, parsed.Import.Identity}
	assert.Check(t, (block.id == "") != (block.identity == nil), "%s must have either an id or an identity", name)
	return block
}

// command matches the command of an import script.
var command = regexp.MustCompile(`(?m)^terraform import (\S+) '?([^'\n]+)'?\n\z`)

// importCommand returns the address and the id that an import script imports.
func importCommand(t *testing.T, script string) (address, id string) {
	t.Helper()
	found := command.FindStringSubmatch(read(t, script))
	assert.Assert(t, found != nil, "%s does not end with terraform import, an address and an id", script)
	return found[1], found[2]
}
