package compact

import (
	"bytes"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"
	"gotest.tools/v3/assert"
)

var (
	person     = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"age": tftypes.Number, "is": tftypes.Bool, "name": tftypes.String, "tags": tftypes.List{ElementType: tftypes.String}}}
	persons    = tftypes.Map{ElementType: person}
	wire       = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "people": persons, "any": tftypes.DynamicPseudoType}}
	attributes = objectType{attributes: map[string]tftypes.Type{"people": persons, "any": tftypes.DynamicPseudoType}}
)

func newConversion() *conversion { return &conversion{&attributes, map[string][]pair{}} }

func text(s any) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

func somebody(name any) tftypes.Value {
	return tftypes.NewValue(person, map[string]tftypes.Value{
		"age": tftypes.NewValue(tftypes.Number, 12345678.25), "is": tftypes.NewValue(tftypes.Bool, true), "name": text(name),
		"tags": tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{text("a"), text(nil)}),
	})
}

func object(people, dynamic tftypes.Value) tftypes.Value {
	return tftypes.NewValue(wire, map[string]tftypes.Value{"id": text(tftypes.UnknownValue), "people": people, "any": dynamic})
}

// loose returns a value of object types with the entries of a map.
func loose(entries map[string]tftypes.Value) tftypes.Value {
	types := map[string]tftypes.Type{}
	for key, v := range entries {
		types[key] = v.Type()
	}
	return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, entries)
}

func encoded(t *testing.T, v tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	d, err := tfprotov6.NewDynamicValue(wire, v)
	assert.NilError(t, err)
	return &d
}

func decoded(t *testing.T, d *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	v, err := d.Unmarshal(wire)
	assert.NilError(t, err)
	return v
}

var samples = map[string]tftypes.Value{
	"null":            tftypes.NewValue(persons, nil),
	"unknown":         tftypes.NewValue(persons, tftypes.UnknownValue),
	"empty":           tftypes.NewValue(persons, map[string]tftypes.Value{}),
	"entries":         tftypes.NewValue(persons, map[string]tftypes.Value{"a": somebody("Zoë <\"\\\u2028\x00>"), "": somebody(""), "null": somebody(nil), "x": somebody("null"), "y": somebody(unknown)}),
	"unknown parts":   tftypes.NewValue(persons, map[string]tftypes.Value{"a": somebody(tftypes.UnknownValue), "b": tftypes.NewValue(person, tftypes.UnknownValue)}),
	"null in a map":   tftypes.NewValue(persons, map[string]tftypes.Value{"a": tftypes.NewValue(person, nil)}),
	"names that sort": tftypes.NewValue(persons, map[string]tftypes.Value{"b": somebody("b"), "B": somebody("B"), "a": somebody("a")}),
}

// TestRoundTrip checks that a value is the same after both conversions, with the types of
// the request or without a request.
func TestRoundTrip(t *testing.T) {
	for name, people := range samples {
		for _, dynamic := range []tftypes.Value{
			tftypes.NewValue(tftypes.DynamicPseudoType, nil), tftypes.NewValue(tftypes.DynamicPseudoType, tftypes.UnknownValue), text("plain"),
			tftypes.NewValue(tftypes.Number, 7), people,
			loose(map[string]tftypes.Value{"b": somebody("b"), "a": text("x"), "n": tftypes.NewValue(tftypes.Number, 0.5), "list": tftypes.NewValue(tftypes.Tuple{ElementTypes: []tftypes.Type{tftypes.Bool}}, []tftypes.Value{tftypes.NewValue(tftypes.Bool, false)})}),
		} {
			v := object(people, dynamic)
			c, d := newConversion(), encoded(t, v)
			err := c.toFramework(&d)
			assert.NilError(t, err, name)
			narrow := bytes.Clone(d.MsgPack)
			err = c.toTerraform(&d)
			assert.NilError(t, err, name)
			after := decoded(t, d)
			assert.Check(t, after.Equal(v), "%s: %v became %v", name, v, after)
			// A value that the framework makes contains the same data with the types of JSON.
			made, again := &tfprotov6.DynamicValue{MsgPack: narrow}, newConversion()
			err = again.toTerraform(&made)
			assert.NilError(t, err, name)
			after = decoded(t, made)
			assert.Check(t, field(t, after, "people").Equal(people), "%s: without a request %v became %v", name, v, after)
			err = again.toFramework(&made)
			assert.Check(t, err == nil && bytes.Equal(made.MsgPack, narrow), "%s: without a request the string became %q, want %q: %v", name, made.MsgPack, narrow, err)
		}
	}
}

func field(t *testing.T, object tftypes.Value, name string) tftypes.Value {
	t.Helper()
	var fields map[string]tftypes.Value
	assert.NilError(t, object.As(&fields))
	return fields[name]
}

// TestFirstOfTheRequest checks that a map with the content of the prior object is planned as that
// object, which is no change for Terraform.
func TestFirstOfTheRequest(t *testing.T) {
	none := tftypes.NewValue(persons, nil)
	prior := object(none, loose(map[string]tftypes.Value{"a": loose(map[string]tftypes.Value{"name": text("A")})}))
	names := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String}}
	config := object(none, tftypes.NewValue(tftypes.Map{ElementType: names}, map[string]tftypes.Value{"a": tftypes.NewValue(names, map[string]tftypes.Value{"name": text("A")})}))
	c, first, second := newConversion(), encoded(t, prior), encoded(t, config)
	for _, d := range []**tfprotov6.DynamicValue{&first, &second} {
		assert.NilError(t, c.toFramework(d))
	}
	assert.NilError(t, c.toTerraform(&second))
	v := decoded(t, second)
	assert.Check(t, v.Equal(prior), "%v, want %v", v, prior)
}

// TestStoredState checks that a stored state yields the string of the value from which it was written,
// in any order of its keys, and keeps its types.
func TestStoredState(t *testing.T) {
	c := newConversion()
	raw, err := c.stateToFramework(&tfprotov6.RawState{JSON: []byte(`{"id":null,"people":{"b":{"tags":["a"],"name":"B","is":true,"age":1.5},"a":null},"any":{"value":{"b":1,"a":"x"},"type":["object",{"b":"number","a":"string"}]}}`)})
	assert.NilError(t, err)
	narrow := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "people": tftypes.String, "any": tftypes.String}}
	v, err := raw.Unmarshal(narrow)
	assert.NilError(t, err)
	for name, want := range map[string]string{"people": `{"a":null,"b":{"age":1.5,"is":true,"name":"B","tags":["a"]}}`, "any": `{"a":"x","b":1}`} {
		got := field(t, v, name)
		assert.Check(t, got.Equal(text(want)), "%s is %s, want %s", name, got, want)
	}
	d, err := tfprotov6.NewDynamicValue(narrow, v)
	assert.NilError(t, err)
	to := &d
	assert.NilError(t, c.toTerraform(&to))
	want := loose(map[string]tftypes.Value{"a": text("x"), "b": tftypes.NewValue(tftypes.Number, 1)})
	got := field(t, decoded(t, to), "any")
	assert.Check(t, got.Equal(want), "%s, want %s", got, want)
	_, err = newConversion().stateToFramework(&tfprotov6.RawState{JSON: []byte(`{"any":null}`)})
	assert.Check(t, err)
}

// TestUnknownStays checks that Terraform gets the refinements of an unknown value back.
func TestUnknownStays(t *testing.T) {
	refined := msgpack.RawMessage{0xc7, 3, 12, 0x81, 1, 0xc2}
	raw, err := msgpack.Marshal(map[string]any{"any": refined})
	assert.NilError(t, err)
	c, d := newConversion(), &tfprotov6.DynamicValue{MsgPack: raw}
	assert.NilError(t, c.toFramework(&d))
	err = c.toTerraform(&d)
	assert.Check(t, err == nil && bytes.Equal(d.MsgPack, raw), "%x, want %x: %v", d.MsgPack, raw, err)
}
