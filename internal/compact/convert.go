package compact

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"
)

// objectType lists the compact attributes of one resource, with their wire types.
type objectType struct {
	attributes map[string]tftypes.Type
	partial    bool
}

func isDynamic(t tftypes.Type) bool { return t.Is(tftypes.DynamicPseudoType) }

// conversion converts the values of one call. If the framework returns a value unchanged, Terraform gets
// it back byte for byte, with its type and the refinements of its unknown parts. If the request
// contained several values with the same content, it gets the first: in a plan the prior state, so that
// a map and an object with the same content are no change.
type conversion struct {
	*objectType
	seen map[string][]pair // by attribute
}

// pair is a value in the framework's form and in Terraform's.
type pair struct{ narrow, wire msgpack.RawMessage }

func (c *conversion) toFramework(d **tfprotov6.DynamicValue) error {
	return c.convert(d, func(name string, wire tftypes.Type, raw msgpack.RawMessage) (msgpack.RawMessage, error) {
		narrow, err := toNarrow(raw, wire)
		if err == nil {
			c.seen[name] = append(c.seen[name], pair{narrow, raw})
		}
		return narrow, err
	})
}

func (c *conversion) toTerraform(d **tfprotov6.DynamicValue) error {
	return c.convert(d, func(name string, wire tftypes.Type, raw msgpack.RawMessage) (msgpack.RawMessage, error) {
		for _, p := range c.seen[name] {
			if bytes.Equal(p.narrow, raw) {
				return p.wire, nil
			}
		}
		return toWire(raw, wire)
	})
}

func (c *conversion) convert(d **tfprotov6.DynamicValue, one func(string, tftypes.Type, msgpack.RawMessage) (msgpack.RawMessage, error)) error {
	if *d == nil {
		return nil
	}
	if object := (*d).MsgPack; isNull(object) || isUnknown(object) {
		return nil
	}
	var attributes map[string]msgpack.RawMessage
	if err := msgpack.Unmarshal((*d).MsgPack, &attributes); err != nil {
		return fmt.Errorf("not an object: %w", err)
	}
	converted := make(map[string]any, len(attributes))
	for name, raw := range attributes {
		if wire, ok := c.attributes[name]; ok {
			var err error
			if raw, err = one(name, wire, raw); err != nil {
				return fmt.Errorf("attribute %s: %w", name, err)
			}
		}
		converted[name] = raw
	}
	object, err := encode(converted)
	*d = &tfprotov6.DynamicValue{MsgPack: object}
	return err
}

// toNarrow returns the framework's string for a value in Terraform's form.
func toNarrow(raw msgpack.RawMessage, wire tftypes.Type) (msgpack.RawMessage, error) {
	if isDynamic(wire) {
		var err error
		if raw, err = unwrap(raw); err != nil {
			return nil, err
		}
	}
	switch {
	case isNull(raw):
		return nullRaw, nil
	case isUnknown(raw):
		return unknownRaw, nil
	}
	text, err := toJSON(raw)
	if err != nil {
		return nil, err
	}
	return msgpack.Marshal(string(text))
}

// toWire returns the value in Terraform's form for a string. A value of dynamic type becomes an object
// or a tuple instead of a map or a list.
func toWire(narrow msgpack.RawMessage, wire tftypes.Type) (msgpack.RawMessage, error) {
	if isNull(narrow) || isUnknown(narrow) {
		return narrow, nil
	}
	var text string
	if err := msgpack.Unmarshal(narrow, &text); err != nil {
		return nil, err
	}
	v, err := decodeJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	kind := typeOf(v)
	raw, err := encode(v)
	if err == nil && isDynamic(wire) {
		return wrap(raw, kind)
	}
	return raw, err
}

// stateToFramework converts the JSON of a stored state. In it, an attribute of dynamic type is an object
// of a value and a type.
func (c *conversion) stateToFramework(raw *tfprotov6.RawState) (*tfprotov6.RawState, error) {
	var fields map[string]json.RawMessage
	if raw == nil || !json.Valid(raw.JSON) {
		return raw, nil // the framework reports the mistake
	}
	if err := json.Unmarshal(raw.JSON, &fields); err != nil {
		return nil, err
	}
	for name, wire := range c.attributes {
		if _, ok := fields[name]; !ok {
			continue
		}
		v, err := decodeJSON(fields[name])
		if err != nil {
			return nil, err
		}
		var kind any
		if typed, ok := v.(map[string]any); ok && isDynamic(wire) {
			v, kind = typed["value"], typed["type"]
		}
		if v == nil {
			fields[name] = json.RawMessage("null")
			continue
		}
		// Terraform writes the keys of an object sorted, like toJSON, but an editor may not.
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if fields[name], err = json.Marshal(string(text)); err != nil {
			return nil, err
		}
		if kind != nil {
			if err := c.see(name, string(text), v, kind); err != nil {
				return nil, err
			}
		}
	}
	data, err := json.Marshal(fields)
	return &tfprotov6.RawState{JSON: data}, err
}

// see records a stored value of dynamic type.
func (c *conversion) see(name, text string, v, kind any) error {
	narrow, err := msgpack.Marshal(text)
	if err != nil {
		return err
	}
	wire, err := encode(v)
	if err == nil {
		wire, err = wrap(wire, kind)
	}
	c.seen[name] = append(c.seen[name], pair{narrow, wire})
	return err
}
