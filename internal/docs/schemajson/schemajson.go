// Package schemajson converts the provider's schemas to the format of `terraform
// providers schema -json`.
//
// A CLI writes only the parts that its version supports: Terraform 1.11 omits identities, list resources and
// actions. This package reads the schemas from the provider through the plugin protocol, so the result is
// complete and needs no CLI. The documentation is generated from it, and tests validate the examples with it.
//
// The package is for tools and tests: the provider's main.go does not link it.
package schemajson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// Document returns the document for one provider, in the format since Terraform 1.1.
func Document(ctx context.Context, name string, server tfprotov6.ProviderServer) ([]byte, error) {
	p, err := Of(ctx, server)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tfjson.ProviderSchemas{FormatVersion: "1.0", Schemas: map[string]*tfjson.ProviderSchema{name: p}})
}

// Of returns all schemas of a provider. The provider need not be configured.
func Of(ctx context.Context, server tfprotov6.ProviderServer) (*tfjson.ProviderSchema, error) {
	resp, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	ids, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	for _, d := range append(resp.Diagnostics, ids.Diagnostics...) {
		err = errors.Join(err, fmt.Errorf("%s: %s", d.Summary, d.Detail))
	}
	if err != nil {
		return nil, err
	}
	return &tfjson.ProviderSchema{
		ConfigSchema:             schema(resp.Provider),
		ResourceSchemas:          each(resp.ResourceSchemas, schema),
		DataSourceSchemas:        each(resp.DataSourceSchemas, schema),
		EphemeralResourceSchemas: each(resp.EphemeralResourceSchemas, schema),
		ListResourceSchemas:      each(resp.ListResourceSchemas, schema),
		ActionSchemas: each(resp.ActionSchemas, func(a *tfprotov6.ActionSchema) *tfjson.ActionSchema {
			return &tfjson.ActionSchema{Block: block(a.Schema.Block)}
		}),
		Functions:               each(resp.Functions, function),
		ResourceIdentitySchemas: each(ids.IdentitySchemas, identity),
	}, nil
}

// each converts the values of a map. An empty map becomes nil, so that the document omits it.
func each[From, To any](from map[string]From, convert func(From) To) map[string]To {
	if len(from) == 0 {
		return nil
	}
	to := make(map[string]To, len(from))
	for name, s := range from {
		to[name] = convert(s)
	}
	return to
}

func schema(s *tfprotov6.Schema) *tfjson.Schema {
	return &tfjson.Schema{Version: uint64(s.Version), Block: block(s.Block)}
}

// block converts a block. The provider's blocks contain nested attributes, but no nested blocks.
func block(b *tfprotov6.SchemaBlock) *tfjson.SchemaBlock {
	return &tfjson.SchemaBlock{
		Attributes: attributes(b.Attributes), Description: b.Description, DescriptionKind: kind(b.DescriptionKind), Deprecated: b.Deprecated,
	}
}

func attributes(from []*tfprotov6.SchemaAttribute) map[string]*tfjson.SchemaAttribute {
	if len(from) == 0 {
		return nil
	}
	all := make(map[string]*tfjson.SchemaAttribute, len(from))
	for _, a := range from {
		to := &tfjson.SchemaAttribute{
			Description: a.Description, DescriptionKind: kind(a.DescriptionKind), Deprecated: a.Deprecated,
			Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
		}
		if n := a.NestedType; n == nil {
			to.AttributeType = ctyType(a.Type)
		} else {
			to.AttributeNestedType = &tfjson.SchemaNestedAttributeType{
				Attributes: attributes(n.Attributes), NestingMode: tfjson.SchemaNestingMode(strings.ToLower(n.Nesting.String())),
			}
		}
		all[a.Name] = to
	}
	return all
}

func kind(k tfprotov6.StringKind) tfjson.SchemaDescriptionKind {
	return tfjson.SchemaDescriptionKind(strings.ToLower(k.String()))
}

func identity(s *tfprotov6.ResourceIdentitySchema) *tfjson.IdentitySchema {
	to := &tfjson.IdentitySchema{Version: uint64(s.Version), Attributes: map[string]*tfjson.IdentityAttribute{}}
	for _, a := range s.IdentityAttributes {
		to.Attributes[a.Name] = &tfjson.IdentityAttribute{
			IdentityType: ctyType(a.Type), Description: a.Description,
			RequiredForImport: a.RequiredForImport, OptionalForImport: a.OptionalForImport,
		}
	}
	return to
}

func function(f *tfprotov6.Function) *tfjson.FunctionSignature {
	to := &tfjson.FunctionSignature{
		Description: f.Description, Summary: f.Summary, DeprecationMessage: f.DeprecationMessage, ReturnType: ctyType(f.Return.Type),
	}
	parameter := func(p *tfprotov6.FunctionParameter) *tfjson.FunctionParameter {
		return &tfjson.FunctionParameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: ctyType(p.Type)}
	}
	for _, p := range f.Parameters {
		to.Parameters = append(to.Parameters, parameter(p))
	}
	if f.VariadicParameter != nil {
		to.VariadicParameter = parameter(f.VariadicParameter)
	}
	return to
}

// ctyType converts a type of the plugin protocol to the CLI's type. Both have the same JSON, so it fails
// only for a schema without a type, which no provider can serve.
func ctyType(t tftypes.Type) (to cty.Type) {
	text, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	if err != nil {
		panic(fmt.Sprintf("the type %s: %v", t, err))
	}
	return to
}
