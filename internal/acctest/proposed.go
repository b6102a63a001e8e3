package acctest

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Attributes returns the attributes of an object or the elements of a map, or nil if the
// value is null or unknown.
func Attributes(v tftypes.Value) map[string]tftypes.Value {
	var out map[string]tftypes.Value
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	if err := v.As(&out); err != nil {
		panic(err)
	}
	return out
}

// ElementOf returns an element of a map, or null.
func ElementOf(elements map[string]tftypes.Value, key string, t tftypes.Type) tftypes.Value {
	if e, ok := elements[key]; ok {
		return e
	}
	return tftypes.NewValue(t, nil)
}

// Proposed returns the proposed new state as Terraform computes it before a plan:
// computed attributes that are not configured keep their prior values.
func Proposed(schemas []*tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() || !config.IsKnown() {
		return config
	}
	before, configured := Attributes(prior), Attributes(config)
	out := make(map[string]tftypes.Value, len(schemas))
	for _, a := range schemas {
		c := configured[a.Name]
		p := ElementOf(before, a.Name, c.Type())
		nested := a.NestedType != nil && !c.IsNull() && c.IsKnown()
		switch {
		case a.Computed && c.IsNull():
			out[a.Name] = p
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			out[a.Name] = Proposed(a.NestedType.Attributes, p, c)
		case nested && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap:
			elements, before := map[string]tftypes.Value{}, Attributes(p)
			for key, e := range Attributes(c) {
				elements[key] = Proposed(a.NestedType.Attributes, ElementOf(before, key, e.Type()), e)
			}
			out[a.Name] = tftypes.NewValue(c.Type(), elements)
		default:
			out[a.Name] = c
		}
	}
	return tftypes.NewValue(config.Type(), out)
}
