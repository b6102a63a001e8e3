package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnszone"
)

// nested contains the fields of each map attribute that Terraform sees as a nested attribute, by resource and
// attribute: there the fields can be optional and have descriptions. The framework sees a plain map of objects
// with the same values, because its time for nested attributes grows with the square of the map's size.
var nested = map[string]map[string]map[string]schema.Attribute{
	"mailhost_dns_zone": {"records": dnszone.RecordFields()},
}

func (s *server) GetProviderSchema(ctx context.Context, req *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	resp, err := s.Framework.GetProviderSchema(ctx, req)
	if err != nil {
		return resp, err
	}
	for typeName, described := range resp.ResourceSchemas {
		for _, a := range described.Block.Attributes {
			if fields, ok := nested[typeName][a.Name]; ok {
				a.Type, a.NestedType = nil, objectOf(ctx, fields)
			}
		}
	}
	return resp, nil
}

func objectOf(ctx context.Context, fields map[string]schema.Attribute) *tfprotov6.SchemaObject {
	o := &tfprotov6.SchemaObject{Nesting: tfprotov6.SchemaObjectNestingModeMap}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := fields[name]
		o.Attributes = append(o.Attributes, &tfprotov6.SchemaAttribute{
			Name: name, Type: f.GetType().TerraformType(ctx),
			Required: f.IsRequired(), Optional: f.IsOptional(), Computed: f.IsComputed(),
			Description: f.GetMarkdownDescription(), DescriptionKind: tfprotov6.StringKindMarkdown,
		})
	}
	return o
}
