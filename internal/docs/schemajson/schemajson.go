// Package schemajson converts the provider's schemas to the format of `terraform
// providers schema -json`.
//
// A CLI writes only what its version supports: Terraform 1.11 omits identities, list
// resources and actions. This package reads the schemas from the provider through the
// plugin protocol, so it is complete without any CLI. The documentation is generated
// from it, and the tests of the examples validate them with it.
//
// It is for tools and tests: main.go does not link it.
package schemajson

import (
	"context"
	"errors"
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// Address is the provider's name in a CLI's own document.
const Address = "registry.terraform.io/mailhost/mailhost"

// formatVersion is the version of the document since Terraform 1.1.
const formatVersion = "1.0"

// Document returns the document with one provider. name is Address, or the short name
// that another tool expects.
func Document(name string, p *tfjson.ProviderSchema) *tfjson.ProviderSchemas {
	return &tfjson.ProviderSchemas{FormatVersion: formatVersion, Schemas: map[string]*tfjson.ProviderSchema{name: p}}
}

// Of returns all schemas of a provider, which need not be configured.
func Of(ctx context.Context, server tfprotov6.ProviderServer) (*tfjson.ProviderSchema, error) {
	resp, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	ids, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(failures(resp.Diagnostics), failures(ids.Diagnostics)); err != nil {
		return nil, err
	}
	return convertProvider(resp, ids)
}

// failures joins the errors among diagnostics.
func failures(diags []*tfprotov6.Diagnostic) error {
	var errs []error
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s", d.Summary, d.Detail))
		}
	}
	return errors.Join(errs...)
}

func convertProvider(resp *tfprotov6.GetProviderSchemaResponse, ids *tfprotov6.GetResourceIdentitySchemasResponse) (*tfjson.ProviderSchema, error) {
	var p tfjson.ProviderSchema
	var errs [8]error
	p.ConfigSchema, errs[0] = convertSchema(resp.Provider)
	p.ResourceSchemas, errs[1] = convertAll("resource", resp.ResourceSchemas, convertSchema)
	p.DataSourceSchemas, errs[2] = convertAll("data source", resp.DataSourceSchemas, convertSchema)
	p.EphemeralResourceSchemas, errs[3] = convertAll("ephemeral resource", resp.EphemeralResourceSchemas, convertSchema)
	p.ListResourceSchemas, errs[4] = convertAll("list resource", resp.ListResourceSchemas, convertSchema)
	p.ActionSchemas, errs[5] = convertAll("action", resp.ActionSchemas, convertAction)
	p.Functions, errs[6] = convertAll("function", resp.Functions, convertFunction)
	p.ResourceIdentitySchemas, errs[7] = convertAll("identity of", ids.IdentitySchemas, convertIdentity)
	return &p, errors.Join(errs[:]...)
}

// convertAll converts the values of a map. It returns nil for an empty map, which the
// document omits. what describes the keys in errors.
func convertAll[From, To any](what string, from map[string]From, convert func(From) (To, error)) (map[string]To, error) {
	if len(from) == 0 {
		return nil, nil
	}
	to := make(map[string]To, len(from))
	for name, schema := range from {
		converted, err := convert(schema)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", what, name, err)
		}
		to[name] = converted
	}
	return to, nil
}

func convertSchema(s *tfprotov6.Schema) (*tfjson.Schema, error) {
	block, err := convertBlock(s.Block)
	if err != nil {
		return nil, err
	}
	return &tfjson.Schema{Version: uint64(s.Version), Block: block}, nil
}

func convertAction(s *tfprotov6.ActionSchema) (*tfjson.ActionSchema, error) {
	block, err := convertBlock(s.Schema.Block)
	if err != nil {
		return nil, err
	}
	return &tfjson.ActionSchema{Block: block}, nil
}

func convertBlock(b *tfprotov6.SchemaBlock) (*tfjson.SchemaBlock, error) {
	attributes, err := convertAttributes(b.Attributes)
	if err != nil {
		return nil, err
	}
	blocks, err := convertBlockTypes(b.BlockTypes)
	if err != nil {
		return nil, err
	}
	return &tfjson.SchemaBlock{
		Attributes: attributes, NestedBlocks: blocks,
		Description: b.Description, DescriptionKind: descriptionKind(b.DescriptionKind), Deprecated: b.Deprecated,
	}, nil
}

// blockModes maps the nesting modes of blocks.
var blockModes = map[tfprotov6.SchemaNestedBlockNestingMode]tfjson.SchemaNestingMode{
	tfprotov6.SchemaNestedBlockNestingModeSingle: tfjson.SchemaNestingModeSingle,
	tfprotov6.SchemaNestedBlockNestingModeList:   tfjson.SchemaNestingModeList,
	tfprotov6.SchemaNestedBlockNestingModeSet:    tfjson.SchemaNestingModeSet,
	tfprotov6.SchemaNestedBlockNestingModeMap:    tfjson.SchemaNestingModeMap,
	tfprotov6.SchemaNestedBlockNestingModeGroup:  tfjson.SchemaNestingModeGroup,
}

func convertBlockTypes(from []*tfprotov6.SchemaNestedBlock) (map[string]*tfjson.SchemaBlockType, error) {
	if len(from) == 0 {
		return nil, nil
	}
	to := make(map[string]*tfjson.SchemaBlockType, len(from))
	for _, b := range from {
		block, err := convertBlock(b.Block)
		if err != nil {
			return nil, fmt.Errorf("block %s: %w", b.TypeName, err)
		}
		mode, ok := blockModes[b.Nesting]
		if !ok {
			return nil, fmt.Errorf("block %s: unknown nesting %s", b.TypeName, b.Nesting)
		}
		to[b.TypeName] = &tfjson.SchemaBlockType{NestingMode: mode, Block: block, MinItems: uint64(b.MinItems), MaxItems: uint64(b.MaxItems)}
	}
	return to, nil
}

func convertAttributes(from []*tfprotov6.SchemaAttribute) (map[string]*tfjson.SchemaAttribute, error) {
	if len(from) == 0 {
		return nil, nil
	}
	to := make(map[string]*tfjson.SchemaAttribute, len(from))
	for _, a := range from {
		converted, err := convertAttribute(a)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", a.Name, err)
		}
		to[a.Name] = converted
	}
	return to, nil
}

func convertAttribute(a *tfprotov6.SchemaAttribute) (_ *tfjson.SchemaAttribute, err error) {
	to := &tfjson.SchemaAttribute{
		Description: a.Description, DescriptionKind: descriptionKind(a.DescriptionKind), Deprecated: a.Deprecated,
		Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
	}
	if a.NestedType == nil {
		to.AttributeType, err = convertType(a.Type)
	} else {
		to.AttributeNestedType, err = convertNested(a.NestedType)
	}
	return to, err
}

// objectModes maps the nesting modes of nested attributes.
var objectModes = map[tfprotov6.SchemaObjectNestingMode]tfjson.SchemaNestingMode{
	tfprotov6.SchemaObjectNestingModeSingle: tfjson.SchemaNestingModeSingle,
	tfprotov6.SchemaObjectNestingModeList:   tfjson.SchemaNestingModeList,
	tfprotov6.SchemaObjectNestingModeSet:    tfjson.SchemaNestingModeSet,
	tfprotov6.SchemaObjectNestingModeMap:    tfjson.SchemaNestingModeMap,
}

func convertNested(o *tfprotov6.SchemaObject) (*tfjson.SchemaNestedAttributeType, error) {
	mode, ok := objectModes[o.Nesting]
	if !ok {
		return nil, fmt.Errorf("unknown nesting %s", o.Nesting)
	}
	attributes, err := convertAttributes(o.Attributes)
	if err != nil {
		return nil, err
	}
	return &tfjson.SchemaNestedAttributeType{Attributes: attributes, NestingMode: mode}, nil
}

func convertIdentity(s *tfprotov6.ResourceIdentitySchema) (*tfjson.IdentitySchema, error) {
	to := &tfjson.IdentitySchema{Version: uint64(s.Version), Attributes: make(map[string]*tfjson.IdentityAttribute, len(s.IdentityAttributes))}
	for _, a := range s.IdentityAttributes {
		converted, err := convertType(a.Type)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", a.Name, err)
		}
		to.Attributes[a.Name] = &tfjson.IdentityAttribute{
			IdentityType: converted, Description: a.Description,
			RequiredForImport: a.RequiredForImport, OptionalForImport: a.OptionalForImport,
		}
	}
	return to, nil
}

func descriptionKind(k tfprotov6.StringKind) tfjson.SchemaDescriptionKind {
	if k == tfprotov6.StringKindMarkdown {
		return tfjson.SchemaDescriptionKindMarkdown
	}
	return tfjson.SchemaDescriptionKindPlain
}

func convertFunction(f *tfprotov6.Function) (*tfjson.FunctionSignature, error) {
	returns, err := convertType(f.Return.Type)
	if err != nil {
		return nil, fmt.Errorf("its result: %w", err)
	}
	to := &tfjson.FunctionSignature{
		Description: f.Description, Summary: f.Summary, DeprecationMessage: f.DeprecationMessage, ReturnType: returns,
	}
	for _, p := range f.Parameters {
		converted, err := convertParameter(p)
		if err != nil {
			return nil, err
		}
		to.Parameters = append(to.Parameters, converted)
	}
	if f.VariadicParameter != nil {
		to.VariadicParameter, err = convertParameter(f.VariadicParameter)
	}
	return to, err
}

func convertParameter(p *tfprotov6.FunctionParameter) (*tfjson.FunctionParameter, error) {
	converted, err := convertType(p.Type)
	if err != nil {
		return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	return &tfjson.FunctionParameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: converted}, nil
}

// convertType converts a type of the plugin protocol to a type of the CLIs.
func convertType(t tftypes.Type) (cty.Type, error) {
	switch t := t.(type) {
	case tftypes.List:
		return convertElement(t.ElementType, cty.List)
	case tftypes.Set:
		return convertElement(t.ElementType, cty.Set)
	case tftypes.Map:
		return convertElement(t.ElementType, cty.Map)
	case tftypes.Object:
		return convertObject(t)
	case tftypes.Tuple:
		return convertTuple(t)
	case nil:
		return cty.NilType, fmt.Errorf("it has no type")
	}
	switch {
	case t.Is(tftypes.String):
		return cty.String, nil
	case t.Is(tftypes.Number):
		return cty.Number, nil
	case t.Is(tftypes.Bool):
		return cty.Bool, nil
	case t.Is(tftypes.DynamicPseudoType):
		return cty.DynamicPseudoType, nil
	}
	return cty.NilType, fmt.Errorf("unknown type %s", t)
}

func convertElement(element tftypes.Type, of func(cty.Type) cty.Type) (cty.Type, error) {
	converted, err := convertType(element)
	if err != nil {
		return cty.NilType, err
	}
	return of(converted), nil
}

func convertObject(o tftypes.Object) (cty.Type, error) {
	attributes := make(map[string]cty.Type, len(o.AttributeTypes))
	var optional []string
	for name, t := range o.AttributeTypes {
		converted, err := convertType(t)
		if err != nil {
			return cty.NilType, fmt.Errorf("%s: %w", name, err)
		}
		attributes[name] = converted
		if _, ok := o.OptionalAttributes[name]; ok {
			optional = append(optional, name)
		}
	}
	return cty.ObjectWithOptionalAttrs(attributes, optional), nil
}

func convertTuple(t tftypes.Tuple) (cty.Type, error) {
	elements := make([]cty.Type, len(t.ElementTypes))
	for i, element := range t.ElementTypes {
		converted, err := convertType(element)
		if err != nil {
			return cty.NilType, fmt.Errorf("element %d: %w", i, err)
		}
		elements[i] = converted
	}
	return cty.Tuple(elements), nil
}
