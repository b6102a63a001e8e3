package compact

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	person  = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"age": tftypes.Number, "is": tftypes.Bool, "name": tftypes.String, "tags": tftypes.List{ElementType: tftypes.String}}}
	persons = tftypes.Map{ElementType: person}
	both    = objectType{
		wire:       tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "people": persons}},
		narrow:     tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "people": tftypes.String}},
		attributes: map[string]tftypes.Type{"people": persons},
	}
)

func somebody(name any) tftypes.Value {
	return tftypes.NewValue(person, map[string]tftypes.Value{
		"age": tftypes.NewValue(tftypes.Number, 12345678.25), "is": tftypes.NewValue(tftypes.Bool, true), "name": tftypes.NewValue(tftypes.String, name),
		"tags": tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{tftypes.NewValue(tftypes.String, "a"), tftypes.NewValue(tftypes.String, nil)}),
	})
}

// TestRoundTrip checks that a value is the same after both conversions.
func TestRoundTrip(t *testing.T) {
	object := func(people tftypes.Value) tftypes.Value {
		return tftypes.NewValue(both.wire, map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, tftypes.UnknownValue), "people": people})
	}
	people := func(entries map[string]tftypes.Value) tftypes.Value { return tftypes.NewValue(persons, entries) }
	for name, v := range map[string]tftypes.Value{
		"null":            tftypes.NewValue(both.wire, nil),
		"null attribute":  object(tftypes.NewValue(persons, nil)),
		"unknown":         object(tftypes.NewValue(persons, tftypes.UnknownValue)),
		"empty":           object(people(map[string]tftypes.Value{})),
		"entries":         object(people(map[string]tftypes.Value{"a": somebody("Zoë <\"\\\u2028\x00>"), "": somebody(""), "null": somebody(nil), "x": somebody("null"), "y": somebody(unknown)})),
		"unknown parts":   object(people(map[string]tftypes.Value{"a": somebody(tftypes.UnknownValue), "b": tftypes.NewValue(person, tftypes.UnknownValue)})),
		"null in a map":   object(people(map[string]tftypes.Value{"a": tftypes.NewValue(person, nil)})),
		"names that sort": object(people(map[string]tftypes.Value{"b": somebody("b"), "B": somebody("B"), "a": somebody("a")})),
	} {
		before, err := tfprotov6.NewDynamicValue(both.wire, v)
		if err != nil {
			t.Fatal(err)
		}
		d := &before
		if err := both.toFramework(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := both.toTerraform(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after, err := d.Unmarshal(both.wire)
		if err != nil || !after.Equal(v) {
			t.Errorf("%s: %v became %v: %v", name, v, after, err)
		}
	}
}

// TestStoredState checks that a stored state has the same string as the value that it was
// written from, whatever the order of its keys.
func TestStoredState(t *testing.T) {
	raw, err := both.stateToFramework(&tfprotov6.RawState{JSON: []byte(`{"id":null,"people":{"b":{"tags":["a"],"name":"B","is":true,"age":1.5},"a":null}}`)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := raw.Unmarshal(both.narrow)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]tftypes.Value
	var text string
	if err := v.As(&fields); err != nil {
		t.Fatal(err)
	}
	if err := fields["people"].As(&text); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":null,"b":{"age":1.5,"is":true,"name":"B","tags":["a"]}}`; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
