package service

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// Answered returns a resource's attributes as those of a data source, which the
// API answers and nobody configures. Of an attribute that a resource's
// configuration says, the description tells what a change does; descriptions has
// the words for it in a data source, by name.
func Answered(attributes map[string]resource.Attribute, descriptions map[string]string) map[string]schema.Attribute {
	answered := make(map[string]schema.Attribute, len(attributes))
	for name, a := range attributes {
		description, given := descriptions[name]
		if !given {
			description = a.GetMarkdownDescription()
		}
		answered[name] = computed(name, a, description)
	}
	for name := range descriptions {
		if _, ok := attributes[name]; !ok {
			panic("service: there is no attribute " + name + " to describe")
		}
	}
	return answered
}

func computed(name string, a resource.Attribute, description string) schema.Attribute {
	switch a := a.(type) {
	case resource.StringAttribute:
		return schema.StringAttribute{Computed: true, CustomType: a.CustomType, Sensitive: a.Sensitive, MarkdownDescription: description}
	case resource.BoolAttribute:
		return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
	case resource.Int64Attribute:
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	case resource.SingleNestedAttribute:
		return schema.SingleNestedAttribute{Computed: true, Attributes: Answered(a.Attributes, nil), MarkdownDescription: description}
	case resource.ListNestedAttribute:
		return schema.ListNestedAttribute{
			Computed: true, MarkdownDescription: description,
			NestedObject: schema.NestedAttributeObject{Attributes: Answered(a.NestedObject.Attributes, nil)},
		}
	}
	panic(fmt.Sprintf("service: no data source has an attribute like %s, a %T", name, a))
}
