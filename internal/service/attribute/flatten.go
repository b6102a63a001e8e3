package attribute

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// Flatten sets the fields of a model from an API response, by their tfsdk and json tags. A field that
// the response lacks stays unchanged, a nil pointer and an empty string become null, and a number
// becomes decimal in a string field. Flatten panics if the types differ otherwise.
func Flatten(model, response any) {
	values := Values(response)
	eachField(reflect.ValueOf(model).Elem(), func(name string, field reflect.Value) {
		value, ok := values[name]
		if !ok {
			return
		}
		switch v := value.(type) {
		case types.String:
			if v.ValueString() == "" { // a response without the field, for instance to a purchase
				v = types.StringNull()
				value = v
			}
			if field.Type() == reflect.TypeFor[customtype.String]() {
				value = customtype.String{StringValue: v}
			}
		case types.Int64:
			if field.Type() == reflect.TypeFor[types.String]() {
				value = types.StringValue(v.String())
			}
		}
		if v := reflect.ValueOf(value); v.Type() != field.Type() {
			panic(fmt.Sprintf("attribute: the field with tfsdk:%q of %T is a %s; make it a %s, as %T has it", name, model, field.Type(), v.Type(), response))
		}
		field.Set(reflect.ValueOf(value))
	})
}

// ExpandStrings sets the string fields of a request body from an object, by their json tags.
func ExpandStrings(body any, o types.Object) {
	attributes := o.Attributes()
	eachField(reflect.ValueOf(body).Elem(), func(name string, field reflect.Value) {
		if text, ok := attributes[name].(types.String); ok {
			field.SetString(text.ValueString())
		}
	})
}

// Object returns an object with the values of a model or an API response. Attributes that the source lacks are null.
func Object(ctx context.Context, attributes map[string]attr.Type, source any) types.Object {
	values, all := Values(source), make(map[string]attr.Value, len(attributes))
	for name, typ := range attributes {
		raw := tftypes.NewValue(typ.TerraformType(ctx), nil)
		var err error
		if v, ok := values[name]; ok && !v.IsNull() {
			raw, err = v.ToTerraformValue(ctx)
		}
		if err == nil {
			all[name], err = typ.ValueFromTerraform(ctx, raw)
		}
		if err != nil {
			panic(fmt.Sprintf("attribute: the attribute %s of a %T: %v", name, source, err))
		}
	}
	return types.ObjectValueMust(attributes, all)
}

// SetState sets the state of a data source to a model or an API response.
func SetState(ctx context.Context, state *tfsdk.State, source any) diag.Diagnostics {
	return state.Set(ctx, Object(ctx, state.Schema.Type().(types.ObjectType).AttrTypes, source))
}

// Values returns the fields of a model or of an API response as attribute values.
func Values(source any) map[string]attr.Value {
	all := map[string]attr.Value{}
	eachField(reflect.Indirect(reflect.ValueOf(source)), func(name string, field reflect.Value) {
		all[name] = valueOf(field)
	})
	return all
}

// eachField calls visit for each named field of a struct and of its embedded structs.
func eachField(s reflect.Value, visit func(name string, field reflect.Value)) {
	for i := range s.NumField() {
		f := s.Type().Field(i)
		name, _, _ := strings.Cut(cmp.Or(f.Tag.Get("tfsdk"), f.Tag.Get("json")), ",")
		switch {
		case name != "":
			visit(name, s.Field(i))
		case f.Anonymous:
			eachField(s.Field(i), visit)
		}
	}
}

func valueOf(field reflect.Value) attr.Value {
	switch v := field.Interface().(type) {
	case attr.Value:
		return v
	case string:
		return types.StringValue(v)
	case *string:
		return types.StringPointerValue(v)
	case bool:
		return types.BoolValue(v)
	case *bool:
		return types.BoolPointerValue(v)
	case int:
		return types.Int64Value(int64(v))
	case int64:
		return types.Int64Value(v)
	case *int64:
		return types.Int64PointerValue(v)
	}
	switch field.Kind() {
	case reflect.Struct:
		values, attributes := Values(field.Interface()), map[string]attr.Type{}
		for name, v := range values {
			attributes[name] = v.Type(context.Background())
		}
		return types.ObjectValueMust(attributes, values)
	case reflect.Slice:
		elements := make([]attr.Value, field.Len())
		for i := range elements {
			elements[i] = valueOf(field.Index(i))
		}
		return types.ListValueMust(valueOf(reflect.Zero(field.Type().Elem())).Type(context.Background()), elements)
	}
	panic(fmt.Sprintf("attribute: no attribute has the type %s", field.Type()))
}
