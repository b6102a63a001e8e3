// Package customtype provides string types for the provider's schemas, such as addresses, names, UUIDs
// and times. Different spellings of one value are semantically equal, so the framework keeps the
// configuration's spelling when the API returns another.
//
// The attribute's schema declares the type, and every model uses [String]:
//
//	schema.StringAttribute{
//		CustomType: customtype.EmailAddress,
//	}
//
//	type model struct {
//		TargetEmail customtype.String `tfsdk:"target_email"`
//	}
//
// # Validation
//
// The types accept every string, because the framework would validate the state too: an unexpected value
// from the API would make the object unreadable, even for a destroy. Validator checks only the
// configuration. Package service adds it to the attributes of resources.
//
// # Limits of semantic equality
//
// If the meaning of a value depends on another attribute, only spellings that are always equal are
// semantically equal. The resource compares the others, for a domain with [KeepDomainRef]. When the framework
// plans, it does not apply semantic equality; a plan modifier of package service does, with [Type.Same].
//
// The package may import the plugin framework and, of this module, internal/validate, apiserver/api and
// its sibling packages of syntax rules.
package customtype

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Type is a type of a string attribute. Only copies of the same variable of this package are equal.
type Type struct {
	basetypes.StringType
	*format
}

// format describes the values of a type.
type format struct {
	// name is the name of the type's variable; noun describes a value, with its article.
	name, noun string
	// normalize returns the canonical form of a value, or an error for users.
	normalize func(string) (string, error)
}

func (t Type) Equal(other attr.Type) bool {
	o, ok := other.(Type)
	return ok && o.format == t.format
}

func (t Type) String() string {
	if t.format == nil { // the type of a value in a model
		return "customtype.String"
	}
	return "customtype." + t.name
}

func (t Type) ValueType(context.Context) attr.Value { return String{format: t.format} }

func (t Type) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return String{StringValue: in, format: t.format}, nil
}

func (t Type) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t, err)
	}
	return String{StringValue: v.(basetypes.StringValue), format: t.format}, nil
}

// Validator returns a validator of configured values.
func (t Type) Validator() validator.String { return validate.Rule(t.noun, t.normalize) }

// Normalize returns the canonical form of a string, or an error for users.
func (t Type) Normalize(s string) (string, error) { return t.normalize(s) }

// Same reports whether two strings mean the same. Invalid strings are the same only if identical.
func (t Type) Same(a, b string) bool { return domainname.EqualAfter(t.normalize, a, b) }

// String is a value of any of the types. The schema sets its type, so models need not. The zero value is null.
type String struct {
	basetypes.StringValue

	format *format
}

func New(s string) String { return String{StringValue: basetypes.NewStringValue(s)} }

func NewUnknown() String { return String{StringValue: basetypes.NewStringUnknown()} }

func (v String) Type(context.Context) attr.Type { return Type{format: v.format} }

func (v String) Equal(other attr.Value) bool {
	o, ok := other.(String)
	return ok && v.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals compares by the type of v.
func (v String) StringSemanticEquals(ctx context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, diags := other.ToStringValue(ctx)
	if diags.HasError() {
		return false, diags
	}
	if !isKnown(v.StringValue) || !isKnown(o) || v.format == nil {
		return v.StringValue.Equal(o), diags
	}
	return Type{format: v.format}.Same(v.ValueString(), o.ValueString()), diags
}

func isKnown(v basetypes.StringValue) bool { return !v.IsNull() && !v.IsUnknown() }
