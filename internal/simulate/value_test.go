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

// known returns a value as a Go value, or the zero value if it is null or unknown.
func known[T any](v value) (out T) {
	if v.IsKnown() && !v.IsNull() {
		must(v.As(&out))
	}
	return out
}

func attributesOf(v value) map[string]value { return known[map[string]value](v) }

func elementsOf(v value) []value { return known[[]value](v) }

// text returns a string attribute, or "" if it is null or unknown.
func text(v value, name string) string { return known[string](attributesOf(v)[name]) }

// number returns an integer attribute, or 0 if it is null or unknown.
func number(v value, name string) (n int) {
	if f := known[*big.Float](attributesOf(v)[name]); f != nil {
		i, _ := f.Int64()
		n = int(i)
	}
	return n
}

// textList returns a list of strings, without the unknown ones.
func textList(v value, name string) (list []string) {
	for _, e := range elementsOf(attributesOf(v)[name]) {
		if e.IsKnown() {
			list = append(list, known[string](e))
		}
	}
	return list
}

// equal compares values. An unknown value equals only an unknown value.
func equal(a, b value) bool {
	if a.IsNull() || b.IsNull() || !a.IsKnown() || !b.IsKnown() {
		return a.IsNull() == b.IsNull() && a.IsKnown() == b.IsKnown()
	}
	return a.Equal(b)
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
		return known[string](v)
	case t.Is(tftypes.Bool):
		return known[bool](v)
	case t.Is(tftypes.Number):
		return json.Number(known[*big.Float](v).Text('f', -1))
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
func newValue(t tftypes.Type, v any) value { return acctest.NewValue(t, v) }

// mapOf returns a map with the attributes of an object, which have one type, as tomap does.
func mapOf(object map[string]any) value {
	v := acctest.Literal(object)
	attributes := attributesOf(v)
	for _, e := range attributes {
		return tftypes.NewValue(tftypes.Map{ElementType: e.Type()}, attributes)
	}
	return v
}

// valueAt returns the value at a path, and false if there is none.
func valueAt(v value, path *tftypes.AttributePath) (value, bool) {
	found, _, err := tftypes.WalkAttributePath(v, path)
	at, ok := found.(value)
	return at, ok && err == nil
}

func joined(problems []string) string { return strings.Join(problems, "; ") }
