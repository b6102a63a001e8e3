package core

import (
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// Value is a value of Terraform's language.
type Value = tftypes.Value

// Unknown is an unknown value in a configuration.
var Unknown any = tftypes.UnknownValue

// NewValue converts a Go value to a value of type t. Missing attributes are null.
func NewValue(t tftypes.Type, v any) Value {
	if v == nil || v == Unknown {
		return tftypes.NewValue(t, v)
	}
	if t.Is(tftypes.DynamicPseudoType) {
		return literal(v)
	}
	if converted, ok := v.(Value); ok {
		return converted
	}
	switch t := t.(type) {
	case tftypes.Object:
		attributes := v.(map[string]any)
		fields := map[string]Value{}
		for name, inner := range t.AttributeTypes {
			fields[name] = NewValue(inner, attributes[name])
		}
		for name := range attributes {
			if _, ok := fields[name]; !ok {
				panic("there is no attribute " + name)
			}
		}
		return tftypes.NewValue(t, fields)
	case tftypes.Map:
		entries := map[string]Value{}
		for it := reflect.ValueOf(v).MapRange(); it.Next(); {
			entries[it.Key().String()] = NewValue(t.ElementType, it.Value().Interface())
		}
		return tftypes.NewValue(t, entries)
	case tftypes.List:
		return tftypes.NewValue(t, newValues(t.ElementType, v))
	case tftypes.Set:
		return tftypes.NewValue(t, newValues(t.ElementType, v))
	}
	return tftypes.NewValue(t, v)
}

// newValues returns the elements of a slice.
func newValues(element tftypes.Type, v any) (items []Value) {
	for i := range reflect.ValueOf(v).Len() {
		items = append(items, NewValue(element, reflect.ValueOf(v).Index(i).Interface()))
	}
	return items
}

// literal converts a Go value to a value with the type of its literal in HCL.
func literal(v any) Value {
	switch v := v.(type) {
	case string:
		return tftypes.NewValue(tftypes.String, v)
	case bool:
		return tftypes.NewValue(tftypes.Bool, v)
	case int, float64:
		return tftypes.NewValue(tftypes.Number, v)
	case []any:
		t := tftypes.Tuple{ElementTypes: []tftypes.Type{}}
		items := []Value{}
		for _, e := range v {
			item := literal(e)
			t.ElementTypes, items = append(t.ElementTypes, item.Type()), append(items, item)
		}
		return tftypes.NewValue(t, items)
	case map[string]any:
		t := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
		fields := map[string]Value{}
		for name, e := range v {
			fields[name] = literal(e)
			t.AttributeTypes[name] = fields[name].Type()
		}
		return tftypes.NewValue(t, fields)
	case Value:
		return v
	}
	return tftypes.NewValue(tftypes.DynamicPseudoType, v) // nil, Unknown
}

// Known returns a value as a Go value, or the zero value if it is null or unknown.
func Known[T any](v Value) (out T) {
	if v.IsKnown() && !v.IsNull() {
		if err := v.As(&out); err != nil {
			panic(err)
		}
	}
	return out
}

// Attributes returns the attributes of an object or the elements of a map, or nil if the
// value is null or unknown.
func Attributes(v Value) map[string]Value { return Known[map[string]Value](v) }

// Elements returns the elements of a list, a set or a tuple, or nil if the value is null or
// unknown.
func Elements(v Value) []Value { return Known[[]Value](v) }

// Text returns a string attribute, or "" if it is null or unknown.
func Text(v Value, name string) string { return Known[string](Attributes(v)[name]) }

// Texts returns the strings of an object or a map, without null or unknown ones.
func Texts(v Value) map[string]string {
	out := map[string]string{}
	for key, e := range Attributes(v) {
		if e.IsKnown() && !e.IsNull() {
			out[key] = Known[string](e)
		}
	}
	return out
}

// Shown returns a value for a message.
func Shown(v Value) string {
	var text *string
	var flag *bool
	var number *big.Float
	var items []Value
	switch {
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	case v.As(&text) == nil:
		return strconv.Quote(*text)
	case v.As(&flag) == nil:
		return strconv.FormatBool(*flag)
	case v.As(&number) == nil:
		return number.String()
	case v.As(&items) == nil:
		all := make([]string, len(items))
		for i, item := range items {
			all[i] = Shown(item)
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	var members []string
	fields := Attributes(v)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		members = append(members, name+": "+Shown(fields[name]))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// equal compares values. An unknown value equals only an unknown value.
func equal(a, b Value) bool {
	if a.IsNull() || b.IsNull() || !a.IsKnown() || !b.IsKnown() {
		return a.IsNull() == b.IsNull() && a.IsKnown() == b.IsKnown()
	}
	return a.Equal(b)
}

// elementOf returns an element of a map, or null.
func elementOf(elements map[string]Value, key string, t tftypes.Type) Value {
	if e, ok := elements[key]; ok {
		return e
	}
	return tftypes.NewValue(t, nil)
}

// valueAt returns the value at a path, and false if there is none.
func valueAt(v Value, path *tftypes.AttributePath) (Value, bool) {
	found, _, err := tftypes.WalkAttributePath(v, path)
	at, ok := found.(Value)
	return at, ok && err == nil
}

// proposed returns the proposed new state as Terraform computes it before a plan: computed
// attributes without a configured value keep their prior values.
func proposed(schemas []*tfprotov6.SchemaAttribute, prior, config Value) Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	before, configured := Attributes(prior), Attributes(config)
	out := make(map[string]Value, len(schemas))
	for _, a := range schemas {
		c := configured[a.Name]
		p := elementOf(before, a.Name, c.Type())
		nested := a.NestedType != nil && !c.IsNull() && c.IsKnown()
		switch {
		case a.Computed && c.IsNull():
			out[a.Name] = p
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			out[a.Name] = proposed(a.NestedType.Attributes, p, c)
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap:
			elements, before := map[string]Value{}, Attributes(p)
			for key, e := range Attributes(c) {
				elements[key] = proposed(a.NestedType.Attributes, elementOf(before, key, e.Type()), e)
			}
			out[a.Name] = tftypes.NewValue(c.Type(), elements)
		default:
			out[a.Name] = c
		}
	}
	return tftypes.NewValue(config.Type(), out)
}

// kindOf returns the kind of a type, without the types of its elements.
func kindOf(t tftypes.Type) string {
	name, _, _ := strings.Cut(t.String(), "[")
	return name
}

func isList(t tftypes.Type) bool {
	return t.Is(tftypes.List{}) || t.Is(tftypes.Set{}) || t.Is(tftypes.Tuple{})
}

// stateJSON returns a fully known value in the format of a state file.
func stateJSON(t cty.Type, v Value) []byte {
	return Must(ctyjson.Marshal(Must(msgpack.Unmarshal(Dynamic(v).MsgPack, t)), t))
}
