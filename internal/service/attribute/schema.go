package attribute

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// ComputedString is a string that only the API sets.
func ComputedString(description string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// Argument returns the attribute that sets the field name of T, the body of a create: required if the field is,
// with the limits of the contract. An argument with an exception, such as a custom type, a default or a secret, is
// written out.
func Argument[T any](name, description string) schema.Attribute {
	f := api.FieldOf[T](name)
	switch f.Kind {
	case reflect.String:
		check := validate.Length[T]
		if f.Enum != nil {
			check = validate.OneOf[T]
		}
		return schema.StringAttribute{Required: f.Required, Optional: !f.Required, Validators: []validator.String{check(name)}, MarkdownDescription: description}
	case reflect.Int64:
		return schema.Int64Attribute{Required: f.Required, Optional: !f.Required, Validators: []validator.Int64{validate.Range[T](name)}, MarkdownDescription: description}
	case reflect.Bool:
		return schema.BoolAttribute{Required: f.Required, Optional: !f.Required, MarkdownDescription: description}
	}
	panic(fmt.Sprintf("attribute: the field %q of %s is a %s, for which Argument has no attribute; add a case", name, reflect.TypeFor[T](), f.Kind))
}

// Domain returns the attribute for the domain of an object. Its description begins with what, such as
// "Domain of the mailbox", and ends with change, the effect of another domain.
func Domain(what, change string) schema.Attribute {
	return schema.StringAttribute{
		Required:            true,
		CustomType:          customtype.DomainRef,
		PlanModifiers:       []planmodifier.String{KeepPrior(keepDomainRef)},
		MarkdownDescription: what + ", by name or UUID, for instance `mailhost_domain.main.name`. " + change,
	}
}

// CompleteCustomTypes adds to each attribute of a custom type the type's validator, and a plan modifier
// that keeps the prior spelling of an equal value.
func CompleteCustomTypes(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	for name, a := range attributes {
		if s, ok := a.(schema.StringAttribute); ok {
			if t, ok := s.CustomType.(customtype.Type); ok {
				s.Validators = append([]validator.String{t.Validator()}, s.Validators...)
				s.PlanModifiers = append([]planmodifier.String{KeepEqual(t.Same)}, s.PlanModifiers...)
				attributes[name] = s
			}
		}
	}
	return attributes
}

// FromContract returns fields of a response as computed attributes, with the contract's descriptions.
// noun names the object.
func FromContract(fields []*api.Field, noun string) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for _, f := range fields {
		description := describeField(f, noun)
		switch f.Kind {
		case reflect.String:
			all[f.Name] = ComputedString(description)
		case reflect.Bool:
			all[f.Name] = schema.BoolAttribute{Computed: true, MarkdownDescription: description}
		case reflect.Struct:
			all[f.Name] = schema.SingleNestedAttribute{Computed: true, Attributes: FromContract(f.Members, ""), MarkdownDescription: description}
		case reflect.Slice:
			all[f.Name] = schema.ListNestedAttribute{
				Computed: true, MarkdownDescription: description,
				NestedObject: schema.NestedAttributeObject{Attributes: FromContract(f.Element.Members, "")},
			}
		default:
			all[f.Name] = schema.Int64Attribute{Computed: true, MarkdownDescription: description}
		}
	}
	return all
}

// describeField returns the contract's description of a field, with its allowed values or its format.
func describeField(f *api.Field, noun string) string {
	common := map[string]string{"id": "UUID of the " + noun, "created_at": "When the " + noun + " was created", "updated_at": "When the " + noun + " was last changed"}
	text, more, _ := strings.Cut(cmp.Or(f.Description, common[f.Name]), "; ")
	if f.Enum != nil {
		last := len(f.Enum) - 1
		text += ": " + strings.Join(f.Enum[:last], ", ") + " or " + f.Enum[last]
	}
	if f.Format == api.FormatTime {
		text += " (RFC 3339)"
	}
	if more != "" {
		text += "; " + more
	}
	return text + "."
}

// ReadOnly returns the fields of a response as attributes of a data source.
func ReadOnly[T any](noun string) map[string]data.Attribute {
	return ForDataSource(FromContract(api.FieldsOf(reflect.TypeFor[T]()), noun), nil)
}

// ForDataSource returns a resource's attributes as computed attributes of a data source. descriptions
// replaces descriptions by attribute name.
func ForDataSource(attributes map[string]schema.Attribute, descriptions map[string]string) map[string]data.Attribute {
	all := make(map[string]data.Attribute, len(attributes))
	for name, a := range attributes {
		description, ok := descriptions[name]
		if !ok {
			description = a.GetMarkdownDescription()
		}
		all[name] = computed(name, a, description)
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
		return data.SingleNestedAttribute{Computed: true, Attributes: ForDataSource(a.Attributes, nil), MarkdownDescription: description}
	case schema.ListNestedAttribute:
		return data.ListNestedAttribute{
			Computed: true, MarkdownDescription: description,
			NestedObject: data.NestedAttributeObject{Attributes: ForDataSource(a.NestedObject.Attributes, nil)},
		}
	}
	panic(fmt.Sprintf("attribute: no data source has an attribute like %s, a %T", name, a))
}
