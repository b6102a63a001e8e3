package customtype

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Value is a value of a custom type. Use it by the name of its kind, as in
// EmailAddress. The zero value is null.
type Value[K kind] struct {
	basetypes.StringValue

	// strict is whether the value validates itself: those do that a type read
	// which is not lenient. A value made by the provider comes from the API.
	strict bool
}

// New returns a known value, as in New[EmailAddress]("jane@example.com"). It is
// not validated.
func New[V interface{ Value[K] }, K kind](s string) V {
	return V(Value[K]{StringValue: basetypes.NewStringValue(s)})
}

// NewPointer returns a known value, or null for a nil pointer.
func NewPointer[V interface{ Value[K] }, K kind](s *string) V {
	return V(Value[K]{StringValue: basetypes.NewStringPointerValue(s)})
}

// NewUnknown returns an unknown value.
func NewUnknown[V interface{ Value[K] }, K kind]() V {
	return V(Value[K]{StringValue: basetypes.NewStringUnknown()})
}

// Equal reports whether two strings mean the same as values of a type, as in
// Equal[DomainName](a, b). Strings that are not valid are equal only if they are
// identical.
func Equal[V interface{ Value[K] }, K kind](a, b string) bool {
	return rulesOf[K]().same(a, b)
}

// Normalize returns the canonical form of a string as a value of a type, as far
// as it can be told without any other value, or an error in words for the person
// who wrote it.
func Normalize[V interface{ Value[K] }, K kind](s string) (string, error) {
	return rulesOf[K]().normalize(s)
}

// Type implements attr.Value.
func (v Value[K]) Type(context.Context) attr.Type { return Type[K]{Lenient: !v.strict} }

// Equal implements attr.Value: it reports whether both are spelled the same.
func (v Value[K]) Equal(other attr.Value) bool {
	o, ok := other.(Value[K])
	return ok && v.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals implements basetypes.StringValuableWithSemanticEquals: it
// reports whether both mean the same.
func (v Value[K]) StringSemanticEquals(ctx context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, diags := other.ToStringValue(ctx)
	if diags.HasError() {
		return false, diags
	}
	if v.IsNull() || v.IsUnknown() || o.IsNull() || o.IsUnknown() {
		return v.StringValue.Equal(o), diags
	}
	return rulesOf[K]().same(v.ValueString(), o.ValueString()), diags
}

// ValidateAttribute implements xattr.ValidateableAttribute. It has no objection
// to a value of a lenient type.
func (v Value[K]) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if d := v.problem(req.Path); d != nil && v.strict {
		resp.Diagnostics.Append(d)
	}
}

// ValidateParameter implements function.ValidateableParameter.
func (v Value[K]) ValidateParameter(_ context.Context, req function.ValidateParameterRequest, resp *function.ValidateParameterResponse) {
	if d := v.problem(path.Empty()); d != nil {
		resp.Error = function.NewArgumentFuncError(req.Position, d.Detail())
	}
}

// problem returns what is wrong with the value, or nil.
func (v Value[K]) problem(at path.Path) diag.Diagnostic {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	r := rulesOf[K]()
	if _, err := r.normalize(v.ValueString()); err != nil {
		return validate.Diagnostic(at, r.noun, err)
	}
	return nil
}
