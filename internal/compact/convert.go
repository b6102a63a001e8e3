package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// objectType has both types of one resource's values.
type objectType struct {
	wire, narrow tftypes.Object          // what Terraform sees, and the framework
	attributes   map[string]tftypes.Type // the compact ones, with their wire types
	partial      bool
}

// toFramework converts a value of Terraform's.
func (t *objectType) toFramework(d **tfprotov6.DynamicValue) error {
	return convert(d, t.wire, t.narrow, t.attributes, func(v tftypes.Value, _ tftypes.Type) (tftypes.Value, error) {
		switch {
		case v.IsNull():
			return tftypes.NewValue(tftypes.String, nil), nil
		case !v.IsKnown():
			return tftypes.NewValue(tftypes.String, tftypes.UnknownValue), nil
		}
		var b bytes.Buffer
		err := writeJSON(&b, v)
		return tftypes.NewValue(tftypes.String, b.String()), err
	})
}

// toTerraform converts a value of the framework's.
func (t *objectType) toTerraform(d **tfprotov6.DynamicValue) error {
	return convert(d, t.narrow, t.wire, t.attributes, func(v tftypes.Value, wire tftypes.Type) (tftypes.Value, error) {
		if v.IsNull() {
			return tftypes.NewValue(wire, nil), nil
		}
		if !v.IsKnown() {
			return tftypes.NewValue(wire, tftypes.UnknownValue), nil
		}
		var text string
		if err := v.As(&text); err != nil {
			return v, err
		}
		return readJSON([]byte(text), wire)
	})
}

func convert(d **tfprotov6.DynamicValue, from, to tftypes.Object, attributes map[string]tftypes.Type, one func(tftypes.Value, tftypes.Type) (tftypes.Value, error)) error {
	if *d == nil {
		return nil
	}
	v, err := (*d).Unmarshal(from)
	if err != nil {
		return err
	}
	converted := tftypes.NewValue(to, nil)
	switch {
	case !v.IsKnown():
		converted = tftypes.NewValue(to, tftypes.UnknownValue)
	case !v.IsNull():
		var fields map[string]tftypes.Value
		if err := v.As(&fields); err != nil {
			return err
		}
		fields = maps.Clone(fields)
		for name, wire := range attributes {
			if fields[name], err = one(fields[name], wire); err != nil {
				return fmt.Errorf("attribute %s: %w", name, err)
			}
		}
		converted = tftypes.NewValue(to, fields)
	}
	out, err := tfprotov6.NewDynamicValue(to, converted)
	*d = &out
	return err
}

// writeJSON appends a value. Equal values have equal JSON.
func writeJSON(b *bytes.Buffer, v tftypes.Value) error {
	switch {
	case !v.IsKnown():
		b.WriteString(unknown)
		return nil
	case v.IsNull():
		b.WriteString("null")
		return nil
	}
	switch t := v.Type(); {
	case t.Is(tftypes.String):
		var s string
		if err := v.As(&s); err != nil {
			return err
		}
		writeString(b, s)
	case t.Is(tftypes.Number):
		n := new(big.Float)
		if err := v.As(n); err != nil {
			return err
		}
		b.WriteString(n.Text('g', -1))
	case t.Is(tftypes.Bool):
		var is bool
		if err := v.As(&is); err != nil {
			return err
		}
		fmt.Fprint(b, is)
	case t.Is(tftypes.List{}):
		var items []tftypes.Value
		if err := v.As(&items); err != nil {
			return err
		}
		b.WriteByte('[')
		for i, item := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		var fields map[string]tftypes.Value
		if err := v.As(&fields); err != nil {
			return err
		}
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(fields)) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, name)
			b.WriteByte(':')
			if err := writeJSON(b, fields[name]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	return nil
}

// writeString appends a string as encoding/json does, without its cost for the strings
// that need no escape.
func writeString(b *bytes.Buffer, s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, _ := json.Marshal(s) // a string can't fail
			b.Write(escaped)
			return
		}
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
}

// readJSON returns the value of a type that writeJSON or Encode wrote.
func readJSON(data []byte, t tftypes.Type) (tftypes.Value, error) {
	switch {
	case string(data) == unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue), nil
	case string(data) == "null":
		return tftypes.NewValue(t, nil), nil
	}
	switch inner := t.(type) {
	case tftypes.Map:
		return readEntries(data, t, func(string) (tftypes.Type, bool) { return inner.ElementType, true })
	case tftypes.Object:
		return readEntries(data, t, func(name string) (tftypes.Type, bool) { a, ok := inner.AttributeTypes[name]; return a, ok })
	case tftypes.List:
		var raw []json.RawMessage
		if err := json.Unmarshal(data, &raw); err != nil {
			return tftypes.Value{}, err
		}
		items := make([]tftypes.Value, len(raw))
		for i, each := range raw {
			var err error
			if items[i], err = readJSON(each, inner.ElementType); err != nil {
				return tftypes.Value{}, err
			}
		}
		return tftypes.NewValue(t, items), nil
	}
	switch {
	case t.Is(tftypes.String):
		var s string
		err := json.Unmarshal(data, &s)
		return tftypes.NewValue(t, s), err
	case t.Is(tftypes.Bool):
		var is bool
		err := json.Unmarshal(data, &is)
		return tftypes.NewValue(t, is), err
	}
	n, _, err := big.ParseFloat(string(data), 10, 512, big.ToNearestEven)
	return tftypes.NewValue(t, n), err
}

// readEntries reads the entries of a map, or the attributes of an object.
func readEntries(data []byte, t tftypes.Type, typeOf func(name string) (tftypes.Type, bool)) (tftypes.Value, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return tftypes.Value{}, err
	}
	fields := make(map[string]tftypes.Value, len(raw))
	for name, each := range raw {
		inner, ok := typeOf(name)
		if !ok {
			return tftypes.Value{}, fmt.Errorf("there is no attribute %q", name)
		}
		v, err := readJSON(each, inner)
		if err != nil {
			return tftypes.Value{}, err
		}
		fields[name] = v
	}
	return tftypes.NewValue(t, fields), nil
}

// stateToFramework converts the JSON of a stored state.
func (t *objectType) stateToFramework(raw *tfprotov6.RawState) (*tfprotov6.RawState, error) {
	var fields map[string]json.RawMessage
	if raw == nil || !json.Valid(raw.JSON) {
		return raw, nil // the framework reports what is wrong with it
	}
	if err := json.Unmarshal(raw.JSON, &fields); err != nil {
		return nil, err
	}
	for name := range t.attributes {
		value, ok := fields[name]
		if !ok || string(value) == "null" {
			continue
		}
		// Terraform writes the keys of an object sorted, as writeJSON does. An editor may not.
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.UseNumber()
		var any any
		if err := decoder.Decode(&any); err != nil {
			return nil, err
		}
		sorted, err := json.Marshal(any)
		if err == nil {
			fields[name], err = json.Marshal(string(sorted))
		}
		if err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(fields)
	return &tfprotov6.RawState{JSON: data}, err
}
