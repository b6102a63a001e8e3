package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// planProblems returns the problems of a plan, like Terraform's AssertPlanValid: attributes
// must have their configured or prior value, and only computed attributes may have another one.
func planProblems(s *Schema, prior, config, planned Value) []string {
	switch {
	case config.IsNull() && planned.IsNull():
		return nil
	case config.IsNull():
		return []string{"planned for existence but config wants absence"}
	case planned.IsNull():
		return []string{"planned for absence but config wants existence"}
	}
	return attributeProblems(s.Attributes, prior, config, planned, "")
}

func attributeProblems(schemas []*tfprotov6.SchemaAttribute, prior, config, planned Value, at string) (problems []string) {
	before, configured, after := Attributes(prior), Attributes(config), Attributes(planned)
	for _, a := range schemas {
		c, p := configured[a.Name], after[a.Name]
		b := elementOf(before, a.Name, c.Type())
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
func elementProblems(schemas []*tfprotov6.SchemaAttribute, prior, config, planned Value, path string) (problems []string) {
	before, configured, after := Attributes(prior), Attributes(config), Attributes(planned)
	for _, key := range slices.Sorted(maps.Keys(configured)) {
		p, ok := after[key]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s[%q]: is in the configuration, and not in the plan", path, key))
			continue
		}
		problems = append(problems, attributeProblems(schemas, elementOf(before, key, p.Type()), configured[key], p, fmt.Sprintf("%s[%q].", path, key))...)
	}
	if len(after) > len(configured) {
		problems = append(problems, path+": the plan has elements that the configuration does not have")
	}
	return problems
}

// incompatibilities returns the differences between a planned and an actual value, like
// Terraform's AssertObjectCompatible: all known values must be equal.
func incompatibilities(planned, actual Value, at string) (problems []string) {
	switch {
	case !planned.IsKnown():
		return nil
	case planned.IsNull() && actual.IsNull():
		return nil
	case planned.IsNull() || actual.IsNull() || !actual.IsKnown():
		return []string{fmt.Sprintf("%s: state %s, plan %s", at, Shown(actual), Shown(planned))}
	}
	switch t := planned.Type(); {
	case kindOf(t) != kindOf(actual.Type()): // in an attribute of dynamic type
		return []string{fmt.Sprintf("%s: wrong final value type: %s, planned was %s", at, actual.Type(), t)}
	case t.Is(tftypes.Object{}), t.Is(tftypes.Map{}):
		a, b := Attributes(planned), Attributes(actual)
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
	case t.Is(tftypes.Set{}) && equal(planned, actual): // in any order
	case isList(t):
		a, b := Elements(planned), Elements(actual)
		if len(a) != len(b) {
			return []string{fmt.Sprintf("%s: length changed from %d to %d", at, len(a), len(b))}
		}
		for i := range a {
			problems = append(problems, incompatibilities(a[i], b[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	case !equal(planned, actual):
		return []string{fmt.Sprintf("%s: state %s, plan %s", at, Shown(actual), Shown(planned))}
	}
	return problems
}

func joined(problems []string) string { return strings.Join(problems, "; ") }
