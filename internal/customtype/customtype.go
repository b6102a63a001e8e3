// Package customtype provides string types for the provider's schemas, such as
// addresses, names, UUIDs and times. Different spellings of one value are semantically
// equal, so that the framework keeps the configuration's spelling when the API returns
// another.
//
// Each type has a [Type] for the schema and a [Value] for the model:
//
//	schema.StringAttribute{
//		CustomType: customtype.EmailAddressType{},
//		Validators: []validator.String{customtype.EmailAddressType{}.Validator()},
//	}
//
//	type model struct {
//		TargetEmail customtype.EmailAddress `tfsdk:"target_email"`
//	}
//
// # Validation
//
// The types themselves accept every string. The framework would validate them in the
// state too, so that an unexpected value from the API would make the object
// unreadable, even for a destroy. Validator checks only the configuration.
//
// # Limits of semantic equality
//
// Semantic equality compares two values and knows nothing else. If the meaning of a
// value depends on another attribute, only spellings that are always equal are
// semantically equal. The resource handles the others with [KeepDomainRef], [KeepName]
// and [KeepValue].
//
// The framework does not apply semantic equality to the configuration and the prior
// state when it plans. A plan modifier does that with [Equal].
//
// The package may import the plugin framework and, of this module, internal/validate,
// apiserver/api and the syntax packages beside it.
package customtype

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// format distinguishes the custom types. It is an empty struct that serves only as a
// type argument.
type format interface{ definition() definition }

// definition describes the valid values of a format.
type definition struct {
	// name is the name of the value's type.
	name string
	// noun describes a value, with its article.
	noun string
	// normalize returns the canonical form of a value, or an error for the author of
	// the configuration.
	normalize func(string) (string, error)
	// equal reports whether two different strings mean the same. If it is nil,
	// strings with the same canonical form do.
	equal func(a, b string) bool
}

func definitionOf[F format]() definition {
	var f F
	return f.definition()
}

// same reports whether two strings mean the same.
func (d definition) same(a, b string) bool {
	switch {
	case a == b:
		return true
	case d.equal != nil:
		return d.equal(a, b)
	}
	return sameForm(d.normalize, a, b)
}

// sameForm reports whether a and b are both valid and have the same canonical form.
func sameForm(normalize func(string) (string, error), a, b string) bool {
	a, err := normalize(a)
	if err != nil {
		return false
	}
	b, err = normalize(b)
	return err == nil && a == b
}

// Type is a custom type of a schema. Use it by the name of its format, as in
// EmailAddressType.
type Type[F format] struct{ basetypes.StringType }

// Equal implements attr.Type.
func (Type[F]) Equal(other attr.Type) bool {
	_, ok := other.(Type[F])
	return ok
}

// String implements attr.Type.
func (Type[F]) String() string { return "customtype." + definitionOf[F]().name + "Type" }

// ValueType implements attr.Type.
func (Type[F]) ValueType(context.Context) attr.Value { return Value[F]{} }

// ValueFromString implements basetypes.StringTypable.
func (Type[F]) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return Value[F]{in}, nil
}

// ValueFromTerraform implements attr.Type.
func (t Type[F]) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t, err)
	}
	s, ok := v.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("reading %s: unexpected value type %T", t, v)
	}
	return Value[F]{s}, nil
}

// Validator returns a validator of configured values.
func (Type[F]) Validator() validator.String {
	d := definitionOf[F]()
	return validate.Rule(d.noun, d.normalize)
}

// Value is a value of a custom type. Use it by the name of its format, as in
// EmailAddress. The zero value is null.
type Value[F format] struct{ basetypes.StringValue }

// New returns a known value, as in New[EmailAddress]("jane@example.com"), without
// validating it.
func New[V interface{ Value[F] }, F format](s string) V {
	return V(Value[F]{basetypes.NewStringValue(s)})
}

// NewPointer returns a known value, or null for a nil pointer.
func NewPointer[V interface{ Value[F] }, F format](s *string) V {
	return V(Value[F]{basetypes.NewStringPointerValue(s)})
}

// NewUnknown returns an unknown value.
func NewUnknown[V interface{ Value[F] }, F format]() V {
	return V(Value[F]{basetypes.NewStringUnknown()})
}

// Equal reports whether two strings mean the same as values of a type, as in
// Equal[DomainName](a, b). Invalid strings are equal only if they are identical.
func Equal[V interface{ Value[F] }, F format](a, b string) bool {
	return definitionOf[F]().same(a, b)
}

// Normalize returns the canonical form of a string as a value of a type, or an error
// for the author of the configuration.
func Normalize[V interface{ Value[F] }, F format](s string) (string, error) {
	return definitionOf[F]().normalize(s)
}

// Type implements attr.Value.
func (Value[F]) Type(context.Context) attr.Type { return Type[F]{} }

// Equal implements attr.Value. It compares the spelling.
func (v Value[F]) Equal(other attr.Value) bool {
	o, ok := other.(Value[F])
	return ok && v.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals implements basetypes.StringValuableWithSemanticEquals. It
// compares the meaning.
func (v Value[F]) StringSemanticEquals(ctx context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, diags := other.ToStringValue(ctx)
	if diags.HasError() {
		return false, diags
	}
	if v.IsNull() || v.IsUnknown() || o.IsNull() || o.IsUnknown() {
		return v.StringValue.Equal(o), diags
	}
	return definitionOf[F]().same(v.ValueString(), o.ValueString()), diags
}
