package service

import (
	"fmt"
	"slices"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// ComputedString is a string that only the API sets.
func ComputedString(description string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// Domain returns the attribute of the domain that an object is in. what names the domain, as in
// "Domain of the mailbox", and change says what another domain does. The domain's id is in the
// attribute idAttribute, and its name in domain_name.
func Domain(idAttribute, what, change string) schema.Attribute {
	return schema.StringAttribute{
		Required:            true,
		CustomType:          customtype.DomainRef,
		PlanModifiers:       []planmodifier.String{keepDomainRef(idAttribute)},
		MarkdownDescription: what + ", by name or UUID, for instance `mailhost_domain.main.name`. " + change,
	}
}

// planned adds to a resource's attributes what holds for all of them:
//
//   - A value of a custom type is validated, and keeps its prior spelling if it means
//     the same.
//   - A computed attribute keeps its value in the plan of an update, unless it is volatile.
func planned(attributes map[string]schema.Attribute, m *Managing) map[string]schema.Attribute {
	for name, a := range attributes {
		if s, ok := a.(schema.StringAttribute); ok {
			if t, ok := s.CustomType.(customtype.Type); ok {
				s.Validators = append([]validator.String{t.Validator()}, s.Validators...)
				s.PlanModifiers = append([]planmodifier.String{KeepEqual(t.Same)}, s.PlanModifiers...)
				attributes[name] = s
			}
		}
		if a.IsComputed() && !a.IsOptional() && !slices.Contains(m.Volatile, name) {
			attributes[name] = stable(name, a)
		}
	}
	return attributes
}

// stable returns the computed attribute with its plan modifier UseStateForUnknown.
func stable(name string, a schema.Attribute) schema.Attribute {
	switch a := a.(type) {
	case schema.StringAttribute:
		a.PlanModifiers = append(a.PlanModifiers, stringplanmodifier.UseStateForUnknown())
		return a
	case schema.BoolAttribute:
		a.PlanModifiers = append(a.PlanModifiers, boolplanmodifier.UseStateForUnknown())
		return a
	case schema.Int64Attribute:
		a.PlanModifiers = append(a.PlanModifiers, int64planmodifier.UseStateForUnknown())
		return a
	case schema.SingleNestedAttribute:
		a.PlanModifiers = append(a.PlanModifiers, objectplanmodifier.UseStateForUnknown())
		return a
	case schema.ListNestedAttribute:
		a.PlanModifiers = append(a.PlanModifiers, listplanmodifier.UseStateForUnknown())
		return a
	}
	panic(fmt.Sprintf("service: no computed attribute is like %s, a %T", name, a))
}

// readOnly returns a resource's attributes as computed attributes of a data source.
// descriptions replaces those of the resource by name.
func readOnly(attributes map[string]schema.Attribute, descriptions map[string]string) map[string]data.Attribute {
	all := make(map[string]data.Attribute, len(attributes))
	for name, a := range attributes {
		description, ok := descriptions[name]
		if !ok {
			description = a.GetMarkdownDescription()
		}
		all[name] = computed(name, a, description)
	}
	for name := range descriptions {
		if _, ok := attributes[name]; !ok {
			panic("service: there is no attribute " + name + " to describe")
		}
	}
	return all
}

func computed(name string, a schema.Attribute, description string) data.Attribute {
	switch a := a.(type) {
	case schema.StringAttribute:
		return data.StringAttribute{Computed: true, CustomType: a.CustomType, Sensitive: a.Sensitive, MarkdownDescription: description}
	case schema.BoolAttribute:
		return data.BoolAttribute{Computed: true, MarkdownDescription: description}
	case schema.Int64Attribute:
		return data.Int64Attribute{Computed: true, MarkdownDescription: description}
	case schema.SingleNestedAttribute:
		return data.SingleNestedAttribute{Computed: true, Attributes: readOnly(a.Attributes, nil), MarkdownDescription: description}
	case schema.ListNestedAttribute:
		return data.ListNestedAttribute{
			Computed: true, MarkdownDescription: description,
			NestedObject: data.NestedAttributeObject{Attributes: readOnly(a.NestedObject.Attributes, nil)},
		}
	}
	panic(fmt.Sprintf("service: no data source has an attribute like %s, a %T", name, a))
}
