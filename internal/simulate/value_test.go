package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

type value = tftypes.Value

// attributesOf returns an object's attributes, or nil if it is null or unknown.
func attributesOf(v value) map[string]value { return acctest.Attributes(v) }

func elementsOf(v value) []value {
	var out []value
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if err := v.As(&out); err != nil {
		panic(err)
	}
	return out
}

// text returns a string attribute, or "" if it is null or unknown.
func text(v value, name string) string {
	a, ok := attributesOf(v)[name]
	if !ok || a.IsNull() || !a.IsKnown() {
		return ""
	}
	var s string
	if err := a.As(&s); err != nil {
		panic(err)
	}
	return s
}

// number returns an integer attribute, or 0 if it is null or unknown.
func number(v value, name string) int {
	a, ok := attributesOf(v)[name]
	if !ok || a.IsNull() || !a.IsKnown() {
		return 0
	}
	var n *big.Float
	must(a.As(&n))
	i, _ := n.Int64()
	return int(i)
}

// textList returns a list of strings, without the unknown ones.
func textList(v value, name string) (list []string) {
	for _, e := range elementsOf(attributesOf(v)[name]) {
		var s string
		if e.IsKnown() && e.As(&s) == nil {
			list = append(list, s)
		}
	}
	return list
}

// equal compares values. An unknown value equals only an unknown value.
func equal(a, b value) bool {
	if a.IsNull() != b.IsNull() || a.IsKnown() != b.IsKnown() {
		return false
	}
	if a.IsNull() || !a.IsKnown() {
		return true
	}
	switch t := a.Type(); {
	case kindOf(t) != kindOf(b.Type()): // in an attribute of dynamic type
		return false
	case t.Is(tftypes.String):
		var x, y string
		return a.As(&x) == nil && b.As(&y) == nil && x == y
	case t.Is(tftypes.Bool):
		var x, y bool
		return a.As(&x) == nil && b.As(&y) == nil && x == y
	case t.Is(tftypes.Number):
		var x, y *big.Float
		return a.As(&x) == nil && b.As(&y) == nil && x.Cmp(y) == 0
	case isList(t):
		return slices.EqualFunc(elementsOf(a), elementsOf(b), equal)
	default:
		return maps.EqualFunc(attributesOf(a), attributesOf(b), equal)
	}
}

// kindOf returns the kind of a type, without the types of its elements.
func kindOf(t tftypes.Type) string {
	name, _, _ := strings.Cut(t.String(), "[")
	return name
}

func isList(t tftypes.Type) bool {
	return t.Is(tftypes.List{}) || t.Is(tftypes.Set{}) || t.Is(tftypes.Tuple{})
}

// schema is a resource's schema, as far as the engine needs it.
type schema struct {
	typeName   string
	attributes []*tfprotov6.SchemaAttribute
	objectType tftypes.Object
	identity   tftypes.Type
	version    int64
}

func (s *schema) null() value { return tftypes.NewValue(s.objectType, nil) }

// planProblems returns the problems of a plan, like Terraform's AssertPlanValid:
// attributes have their configured or prior value, and only computed attributes may have
// another one.
func planProblems(s *schema, prior, config, planned value) []string {
	switch {
	case config.IsNull() && planned.IsNull():
		return nil
	case config.IsNull():
		return []string{"planned for existence but config wants absence"}
	case planned.IsNull():
		return []string{"planned for absence but config wants existence"}
	}
	return attributeProblems(s.attributes, prior, config, planned, "")
}

func attributeProblems(schemas []*tfprotov6.SchemaAttribute, prior, config, planned value, at string) (problems []string) {
	before, configured, after := attributesOf(prior), attributesOf(config), attributesOf(planned)
	for _, a := range schemas {
		c, p := configured[a.Name], after[a.Name]
		b, ok := before[a.Name]
		if !ok {
			b = tftypes.NewValue(c.Type(), nil)
		}
		path := at + a.Name
		switch {
		case equal(p, c):
		case equal(p, b) && !b.IsNull() && !c.IsNull():
		case a.WriteOnly:
			if !p.IsNull() {
				problems = append(problems, path+": planned value for write-only attribute is not null")
			}
		case a.Computed && (!a.Optional || c.IsNull()):
		case c.IsNull():
			problems = append(problems, path+": planned value for a non-computed attribute")
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle && !p.IsNull() && p.IsKnown():
			problems = append(problems, attributeProblems(a.NestedType.Attributes, b, c, p, path+".")...)
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap && !p.IsNull() && p.IsKnown() && c.IsKnown():
			problems = append(problems, elementProblems(a.NestedType.Attributes, b, c, p, path)...)
		default:
			problems = append(problems, fmt.Sprintf("%s: planned value %s does not match config value %s nor prior value %s", path, p, c, b))
		}
	}
	return problems
}

// elementProblems is attributeProblems for a map of nested objects.
func elementProblems(schemas []*tfprotov6.SchemaAttribute, prior, config, planned value, path string) (problems []string) {
	before, configured, after := attributesOf(prior), attributesOf(config), attributesOf(planned)
	for _, key := range slices.Sorted(maps.Keys(configured)) {
		p, ok := after[key]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s[%q]: is in the configuration, and not in the plan", path, key))
			continue
		}
		problems = append(problems, attributeProblems(schemas, acctest.ElementOf(before, key, p.Type()), configured[key], p, fmt.Sprintf("%s[%q].", path, key))...)
	}
	if len(after) > len(configured) {
		problems = append(problems, path+": the plan has elements that the configuration does not have")
	}
	return problems
}

// incompatibilities returns the differences between a planned and an actual value, like
// Terraform's AssertObjectCompatible: all known values must be equal.
func incompatibilities(planned, actual value, at string) []string {
	switch {
	case !planned.IsKnown():
		return nil
	case planned.IsNull() && actual.IsNull():
		return nil
	case planned.IsNull():
		return []string{at + ": was absent, but now present"}
	case actual.IsNull():
		return []string{at + ": was present, but now absent"}
	case !actual.IsKnown():
		return []string{at + ": was known, but now unknown"}
	}
	switch t := planned.Type(); {
	case kindOf(t) != kindOf(actual.Type()): // in an attribute of dynamic type
		return []string{fmt.Sprintf("%s: wrong final value type: %s, planned was %s", at, actual.Type(), t)}
	case t.Is(tftypes.Object{}), t.Is(tftypes.Map{}):
		a, b := attributesOf(planned), attributesOf(actual)
		var problems []string
		for _, name := range slices.Sorted(maps.Keys(a)) {
			now, ok := b[name]
			if !ok {
				problems = append(problems, at+"."+name+": has vanished")
				continue
			}
			problems = append(problems, incompatibilities(a[name], now, at+"."+name)...)
		}
		if len(b) > len(a) {
			problems = append(problems, at+": new element has appeared")
		}
		return problems
	case isList(t):
		a, b := elementsOf(planned), elementsOf(actual)
		if len(a) != len(b) {
			return []string{fmt.Sprintf("%s: length changed from %d to %d", at, len(a), len(b))}
		}
		var problems []string
		for i := range a {
			problems = append(problems, incompatibilities(a[i], b[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return problems
	}
	if !equal(planned, actual) {
		return []string{fmt.Sprintf("%s: was %s, but now %s", at, planned, actual)}
	}
	return nil
}

// stateJSON returns a wholly known value in the format of a state file.
func stateJSON(s *schema, v value) []byte {
	fields := map[string]any{}
	for name, a := range attributesOf(v) {
		fields[name] = plain(a)
		if s.objectType.AttributeTypes[name].Is(tftypes.DynamicPseudoType) {
			fields[name] = map[string]any{"value": plain(a), "type": a.Type()}
		}
	}
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return b
}

func plain(v value) any {
	switch t := v.Type(); {
	case v.IsNull():
		return nil
	case t.Is(tftypes.String):
		var s string
		_ = v.As(&s)
		return s
	case t.Is(tftypes.Bool):
		var b bool
		_ = v.As(&b)
		return b
	case t.Is(tftypes.Number):
		var n *big.Float
		_ = v.As(&n)
		return json.Number(n.Text('f', -1))
	case isList(t):
		items := []any{}
		for _, e := range elementsOf(v) {
			items = append(items, plain(e))
		}
		return items
	default:
		fields := map[string]any{}
		for name, a := range attributesOf(v) {
			fields[name] = plain(a)
		}
		return fields
	}
}

// newValue converts a Go value to a value of type t. Missing attributes are null.
func newValue(t tftypes.Type, v any) value {
	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(t, nil)
	case value:
		return v
	case int:
		return tftypes.NewValue(t, big.NewFloat(float64(v)))
	case []string:
		elements := make([]value, len(v))
		for i, s := range v {
			elements[i] = tftypes.NewValue(tftypes.String, s)
		}
		return tftypes.NewValue(t, elements)
	case map[string]any:
		if t.Is(tftypes.DynamicPseudoType) {
			return objectOf(v)
		}
		o, ok := t.(tftypes.Object)
		if !ok {
			elements := map[string]value{}
			for key, e := range v {
				elements[key] = newValue(t.(tftypes.Map).ElementType, e)
			}
			return tftypes.NewValue(t, elements)
		}
		fields := make(map[string]value, len(o.AttributeTypes))
		for name, inner := range o.AttributeTypes {
			fields[name] = newValue(inner, v[name])
		}
		for name := range v {
			if _, ok := fields[name]; !ok {
				panic("no attribute " + name)
			}
		}
		return tftypes.NewValue(t, fields)
	}
	return tftypes.NewValue(t, v)
}

// objectOf returns an object with the attributes of a Go value, as an expression in braces.
func objectOf(v map[string]any) value {
	types, attributes := map[string]tftypes.Type{}, map[string]value{}
	for name, e := range v {
		if inner, ok := e.(map[string]any); ok {
			attributes[name] = objectOf(inner)
		} else {
			attributes[name] = newValue(tftypes.String, e)
		}
		types[name] = attributes[name].Type()
	}
	return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, attributes)
}

// mapOf returns the map of an object whose attributes have one type, as tomap.
func mapOf(object value) value {
	attributes := attributesOf(object)
	for _, e := range attributes {
		return tftypes.NewValue(tftypes.Map{ElementType: e.Type()}, attributes)
	}
	return object
}

// valueAt returns the value at a path, and false if there is none.
func valueAt(v value, path *tftypes.AttributePath) (value, bool) {
	for _, step := range path.Steps() {
		if v.IsNull() || !v.IsKnown() {
			return v, false
		}
		switch step := step.(type) {
		case tftypes.AttributeName:
			v = attributesOf(v)[string(step)]
		case tftypes.ElementKeyString:
			next, ok := attributesOf(v)[string(step)]
			if !ok {
				return v, false
			}
			v = next
		case tftypes.ElementKeyInt:
			items := elementsOf(v)
			if int(step) >= len(items) {
				return v, false
			}
			v = items[step]
		}
	}
	return v, true
}

func joined(problems []string) string { return strings.Join(problems, "; ") }
