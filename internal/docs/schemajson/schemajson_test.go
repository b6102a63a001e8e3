package schemajson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// everything is a schema with every feature of the protocol, whether or not this
// provider uses it.
var everything = &tfprotov6.GetProviderSchemaResponse{
	Provider: &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}},
	ResourceSchemas: map[string]*tfprotov6.Schema{"x_thing": {Version: 3, Block: &tfprotov6.SchemaBlock{
		Description: "A *thing*.", DescriptionKind: tfprotov6.StringKindMarkdown, Deprecated: true,
		Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "secret", Type: tftypes.String, Optional: true, Sensitive: true, WriteOnly: true, Description: "Plain."},
			{Name: "old", Type: tftypes.Bool, Computed: true, Deprecated: true},
			{Name: "any", Type: tftypes.DynamicPseudoType, Required: true},
			{Name: "numbers", Type: tftypes.Set{ElementType: tftypes.Number}, Computed: true},
			{Name: "nested", Optional: true, NestedType: &tfprotov6.SchemaObject{Nesting: tfprotov6.SchemaObjectNestingModeMap, Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "inner", Type: tftypes.Map{ElementType: tftypes.List{ElementType: tftypes.Bool}}, Optional: true},
			}}},
			{Name: "object", Computed: true, Type: tftypes.Object{
				AttributeTypes:     map[string]tftypes.Type{"a": tftypes.String, "b": tftypes.Tuple{ElementTypes: []tftypes.Type{tftypes.Number}}},
				OptionalAttributes: map[string]struct{}{"a": {}},
			}},
		},
		BlockTypes: []*tfprotov6.SchemaNestedBlock{{TypeName: "part", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, MinItems: 1, MaxItems: 2, Block: &tfprotov6.SchemaBlock{}}},
	}}},
	ActionSchemas: map[string]*tfprotov6.ActionSchema{"x_act": {Schema: &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Description: "Acts."}}}},
	Functions: map[string]*tfprotov6.Function{"f": {
		Summary: "Short", Description: "Long.", DeprecationMessage: "Use g.", Return: &tfprotov6.FunctionReturn{Type: tftypes.String},
		Parameters:        []*tfprotov6.FunctionParameter{{Name: "p", Description: "One.", AllowNullValue: true, Type: tftypes.Number}},
		VariadicParameter: &tfprotov6.FunctionParameter{Name: "rest", Type: tftypes.DynamicPseudoType},
	}},
}

const everythingJSON = `{
  "provider": {"version": 0, "block": {"description_kind": "plain"}},
  "resource_schemas": {"x_thing": {"version": 3, "block": {
    "description": "A *thing*.", "description_kind": "markdown", "deprecated": true,
    "attributes": {
      "secret": {"type": "string", "description": "Plain.", "description_kind": "plain", "optional": true, "sensitive": true, "write_only": true},
      "old": {"type": "bool", "description_kind": "plain", "computed": true, "deprecated": true},
      "any": {"type": "dynamic", "description_kind": "plain", "required": true},
      "numbers": {"type": ["set", "number"], "description_kind": "plain", "computed": true},
      "nested": {"nested_type": {"nesting_mode": "map", "attributes": {
        "inner": {"type": ["map", ["list", "bool"]], "description_kind": "plain", "optional": true}
      }}, "description_kind": "plain", "optional": true},
      "object": {"type": ["object", {"a": "string", "b": ["tuple", ["number"]]}, ["a"]], "description_kind": "plain", "computed": true}
    },
    "block_types": {"part": {"nesting_mode": "list", "min_items": 1, "max_items": 2, "block": {"description_kind": "plain"}}}
  }}},
  "action_schemas": {"x_act": {"block": {"description": "Acts.", "description_kind": "plain"}}},
  "functions": {"f": {
    "summary": "Short", "description": "Long.", "deprecation_message": "Use g.", "return_type": "string",
    "parameters": [{"name": "p", "description": "One.", "is_nullable": true, "type": "number"}],
    "variadic_parameter": {"name": "rest", "type": "dynamic"}
  }},
  "resource_identity_schemas": {"x_thing": {"version": 1, "attributes": {
    "id": {"type": "string", "description": "Id.", "required_for_import": true},
    "account": {"type": "string", "optional_for_import": true}
  }}}
}`

func TestConvert(t *testing.T) {
	t.Parallel()
	got, err := convertProvider(everything, &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov6.ResourceIdentitySchema{
		"x_thing": {Version: 1, IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
			{Name: "id", Type: tftypes.String, Description: "Id.", RequiredForImport: true},
			{Name: "account", Type: tftypes.String, OptionalForImport: true},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode(t, []byte(everythingJSON)), reencode(t, got)); diff != "" {
		t.Error(diff)
	}
}

// TestConvertErrors checks that errors name the part that can't be converted.
func TestConvertErrors(t *testing.T) {
	t.Parallel()
	typeless := &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{{Name: "a"}}}
	for want, block := range map[string]*tfprotov6.SchemaBlock{
		"resource x: attribute a: it has no type":            typeless,
		"resource x: attribute n: unknown nesting INVALID":   {Attributes: []*tfprotov6.SchemaAttribute{{Name: "n", NestedType: &tfprotov6.SchemaObject{}}}},
		"resource x: block b: unknown nesting INVALID":       {BlockTypes: []*tfprotov6.SchemaNestedBlock{{TypeName: "b", Block: &tfprotov6.SchemaBlock{}}}},
		"resource x: block b: attribute a: it has no type":   {BlockTypes: []*tfprotov6.SchemaNestedBlock{{TypeName: "b", Block: typeless}}},
		"resource x: attribute o: inner: it has no type":     {Attributes: []*tfprotov6.SchemaAttribute{{Name: "o", Type: tftypes.Object{AttributeTypes: map[string]tftypes.Type{"inner": nil}}}}},
		"resource x: attribute t: element 0: it has no type": {Attributes: []*tfprotov6.SchemaAttribute{{Name: "t", Type: tftypes.Tuple{ElementTypes: []tftypes.Type{nil}}}}},
		"resource x: attribute l: it has no type":            {Attributes: []*tfprotov6.SchemaAttribute{{Name: "l", Type: tftypes.List{}}}},
	} {
		_, err := convertProvider(&tfprotov6.GetProviderSchemaResponse{
			Provider: everything.Provider, ResourceSchemas: map[string]*tfprotov6.Schema{"x": {Block: block}},
		}, &tfprotov6.GetResourceIdentitySchemasResponse{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func reencode(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
