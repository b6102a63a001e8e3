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

// Type is the schema's side of a custom type. Use it by the name of its kind, as
// in EmailAddressType.
type Type[K kind] struct {
	basetypes.StringType

	// Lenient lets every string pass. It is for attributes that the API fills:
	// the framework validates what it reads from the state too, and a value that
	// fails there makes the whole object unreadable. See Validator.
	Lenient bool
}

// Equal implements attr.Type. Whether a type is lenient makes no difference.
func (Type[K]) Equal(other attr.Type) bool {
	_, ok := other.(Type[K])
	return ok
}

// String implements attr.Type.
func (Type[K]) String() string { return "customtype." + rulesOf[K]().name + "Type" }

// ValueType implements attr.Type.
func (t Type[K]) ValueType(context.Context) attr.Value { return t.value(basetypes.StringValue{}) }

// ValueFromString implements basetypes.StringTypable.
func (t Type[K]) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return t.value(in), nil
}

// ValueFromTerraform implements attr.Type.
func (t Type[K]) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t, err)
	}
	s, ok := v.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("reading %s: unexpected value type %T", t, v)
	}
	return t.value(s), nil
}

// Validator returns a validator with the type's rule. Unlike the type itself, it
// sees only the configuration.
func (Type[K]) Validator() validator.String {
	r := rulesOf[K]()
	return validate.Rule(r.noun, r.normalize)
}

func (t Type[K]) value(s basetypes.StringValue) Value[K] {
	return Value[K]{StringValue: s, strict: !t.Lenient}
}
