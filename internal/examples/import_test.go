package examples_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/msgpack"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccImport applies the example of each resource and imports its objects with the
// ids of the import examples, which are natural keys. It replaces the sample id in an
// identity with the object's id.
func TestAccImport(t *testing.T) {
	t.Parallel()
	for _, typeName := range slices.Sorted(maps.Keys(schemas(t).schema.ResourceSchemas)) {
		t.Run(typeName, func(t *testing.T) {
			dir := filepath.Join(examples, "resources", typeName)
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
			resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{
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

// decode evaluates a block's body with a schema, as the CLI does. Values that depend on
// the rest of the configuration are unknown.
func decode(body hcl.Body, schema *tfjson.SchemaBlock) (*tfprotov6.DynamicValue, hcl.Diagnostics) {
	spec := hcldec.ObjectSpec{}
	for name, a := range schema.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attributeType(a), Required: a.Required}
	}
	value, diags := hcldec.Decode(body, spec, unknowns(body))
	if diags.HasErrors() {
		return nil, diags
	}
	encoded, err := msgpack.Marshal(value, hcldec.ImpliedType(spec).WithoutOptionalAttributesDeep())
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Can't be encoded", Detail: err.Error(), Subject: body.MissingItemRange().Ptr()}}
	}
	return &tfprotov6.DynamicValue{MsgPack: encoded}, nil
}

// attributeType returns the type of an attribute in a configuration.
func attributeType(a *tfjson.SchemaAttribute) cty.Type {
	nested := a.AttributeNestedType
	if nested == nil {
		return a.AttributeType
	}
	attributes := map[string]cty.Type{}
	var optional []string
	for name, a := range nested.Attributes {
		attributes[name] = attributeType(a)
		if !a.Required {
			optional = append(optional, name)
		}
	}
	object := cty.ObjectWithOptionalAttrs(attributes, optional)
	switch nested.NestingMode {
	case tfjson.SchemaNestingModeList:
		return cty.List(object)
	case tfjson.SchemaNestingModeSet:
		return cty.Set(object)
	case tfjson.SchemaNestingModeMap:
		return cty.Map(object)
	}
	return object
}

// unknowns returns a context in which all references of a body and all results of
// functions are unknown.
func unknowns(body hcl.Body) *hcl.EvalContext {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: map[string]function.Function{}}
	references, calls := expressions(body)
	for _, t := range references {
		ctx.Variables[t.RootName()] = cty.DynamicVal
	}
	for _, call := range calls {
		ctx.Functions[call.Name] = anything
	}
	return ctx
}

// anything is a function that accepts any arguments and returns an unknown value.
var anything = function.New(&function.Spec{
	VarParam: &function.Parameter{Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
	Type:     function.StaticReturnType(cty.DynamicPseudoType),
	Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
})

// expressions returns the references and the function calls in a body and the blocks in it.
func expressions(body hcl.Body) (references []hcl.Traversal, calls []*hclsyntax.FunctionCallExpr) {
	syntax, ok := body.(*hclsyntax.Body)
	if !ok {
		return nil, nil
	}
	_ = hclsyntax.VisitAll(syntax, func(node hclsyntax.Node) hcl.Diagnostics {
		switch node := node.(type) {
		case *hclsyntax.Attribute:
			references = append(references, node.Expr.Variables()...)
		case *hclsyntax.FunctionCallExpr:
			calls = append(calls, node)
		}
		return nil
	})
	return references, calls
}
