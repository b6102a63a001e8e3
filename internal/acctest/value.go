package acctest

import (
	"maps"
	"math/big"
	"reflect"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Unknown stands in a configuration for what is known after the apply.
var Unknown any = tftypes.UnknownValue

// Text returns a string attribute of the object's state; "" where it is null,
// "(unknown)" where it is not known.
func (o *Object) Text(name string) string {
	var fields map[string]tftypes.Value
	if o.State.IsNull() || o.State.As(&fields) != nil {
		return ""
	}
	if !fields[name].IsKnown() {
		return "(unknown)"
	}
	var s *string
	if fields[name].As(&s) != nil || s == nil {
		return ""
	}
	return *s
}

// With returns the object with another value of an attribute.
func (p *Protocol) With(typeName string, o *Object, name string, v any) *Object {
	p.t.Helper()
	var fields map[string]tftypes.Value
	must(p.t, o.State.As(&fields))
	fields = maps.Clone(fields)
	fields[name] = p.value(fields[name].Type(), v)
	changed := *o
	changed.State = tftypes.NewValue(p.resourceType(typeName), fields)
	return &changed
}

// Gone reports whether the object is not in the state.
func (o *Object) Gone() bool { return o.State.IsNull() }

func (p *Protocol) resourceType(typeName string) tftypes.Type {
	p.t.Helper()
	s, ok := p.schema.ResourceSchemas[typeName]
	if !ok {
		p.t.Fatalf("the provider has no resource %s", typeName)
	}
	return s.ValueType()
}

func (p *Protocol) null(typeName string) tftypes.Value {
	return tftypes.NewValue(p.resourceType(typeName), nil)
}

// Null is the planned state of a destroy.
func (p *Protocol) Null(typeName string) tftypes.Value { return p.null(typeName) }

func (p *Protocol) dynamic(v tftypes.Value) *tfprotov6.DynamicValue {
	p.t.Helper()
	d, err := tfprotov6.NewDynamicValue(v.Type(), v)
	must(p.t, err)
	return &d
}

func (p *Protocol) decode(typeName string, d *tfprotov6.DynamicValue) tftypes.Value {
	p.t.Helper()
	return p.unmarshal(p.resourceType(typeName), d)
}

func (p *Protocol) unmarshal(t tftypes.Type, d *tfprotov6.DynamicValue) tftypes.Value {
	p.t.Helper()
	if d == nil {
		return tftypes.NewValue(t, nil)
	}
	v, err := d.Unmarshal(t)
	must(p.t, err)
	return v
}

// proposed does what Terraform does before it asks for a plan: what is computed
// and not configured keeps its prior value.
func (p *Protocol) proposed(typeName string, config, prior tftypes.Value) tftypes.Value {
	p.t.Helper()
	if prior.IsNull() {
		return config
	}
	var asked, before map[string]tftypes.Value
	must(p.t, config.As(&asked))
	must(p.t, prior.As(&before))
	asked = maps.Clone(asked) // it is the configuration's own
	for _, a := range p.schema.ResourceSchemas[typeName].Block.Attributes {
		if a.Computed && asked[a.Name].IsNull() {
			asked[a.Name] = before[a.Name]
		}
	}
	return tftypes.NewValue(config.Type(), asked)
}

// value makes a value of a type out of Go values: what a map leaves out is null.
func (p *Protocol) value(t tftypes.Type, v any) tftypes.Value {
	p.t.Helper()
	if v == nil || v == Unknown {
		return tftypes.NewValue(t, v)
	}
	if done, ok := v.(tftypes.Value); ok {
		return done
	}
	switch t := t.(type) {
	case tftypes.Object:
		given, ok := v.(map[string]any)
		if !ok {
			p.t.Fatalf("%v is no object", v)
		}
		fields := map[string]tftypes.Value{}
		for name, inner := range t.AttributeTypes {
			fields[name] = p.value(inner, given[name])
		}
		for name := range given {
			if _, ok := fields[name]; !ok {
				p.t.Fatalf("there is no attribute %s", name)
			}
		}
		return tftypes.NewValue(t, fields)
	case tftypes.Map:
		entries := map[string]tftypes.Value{}
		for it := reflect.ValueOf(v).MapRange(); it.Next(); {
			entries[it.Key().String()] = p.value(t.ElementType, it.Value().Interface())
		}
		return tftypes.NewValue(t, entries)
	case tftypes.List:
		var items []tftypes.Value
		for i := range reflect.ValueOf(v).Len() {
			items = append(items, p.value(t.ElementType, reflect.ValueOf(v).Index(i).Interface()))
		}
		return tftypes.NewValue(t, items)
	}
	if n, ok := v.(int); ok {
		return tftypes.NewValue(t, big.NewFloat(float64(n)))
	}
	return tftypes.NewValue(t, v)
}

// Null reports whether an attribute of the object's state is null.
func (o *Object) Null(name string) bool {
	var fields map[string]tftypes.Value
	return o.State.IsNull() || o.State.As(&fields) == nil && fields[name].IsNull()
}
