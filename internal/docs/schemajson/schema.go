package schemajson

import (
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

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

// blockModes are the names of how often a block may be given.
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

// objectModes are the names of how often a nested object may be given.
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
