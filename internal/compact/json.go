package compact

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The encodings of null and of an unknown value in MessagePack. Terraform may add refinements to an unknown value.
var (
	nullRaw    = msgpack.RawMessage{msgpcode.Nil}
	unknownRaw = msgpack.RawMessage{msgpcode.FixExt1, 0, 0}
)

// isNull accepts an empty message too, because msgpack decodes a null attribute to it.
func isNull(raw []byte) bool    { return len(raw) == 0 || raw[0] == msgpcode.Nil }
func isUnknown(raw []byte) bool { return msgpcode.IsExt(raw[0]) }

// unwrap returns the value of an attribute of dynamic type from the array of type and value. Null and
// unknown values may lack the type.
func unwrap(raw msgpack.RawMessage) (msgpack.RawMessage, error) {
	if isNull(raw) || isUnknown(raw) {
		return raw, nil
	}
	var pair []msgpack.RawMessage
	if err := msgpack.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
		return nil, errors.New("a value of dynamic type has no type")
	}
	return pair[1], nil
}

// wrap returns a value of dynamic type as an array of its type and itself. kind is decoded JSON.
func wrap(raw msgpack.RawMessage, kind any) (msgpack.RawMessage, error) {
	text, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	return msgpack.Marshal([]any{text, raw})
}

// typeOf returns the type of a decoded JSON value, as decoded JSON of the plugin protocol.
func typeOf(v any) any {
	switch v := v.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "bool"
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = typeOf(v[i])
		}
		return []any{"tuple", items}
	case map[string]any:
		if isUnknownJSON(v) {
			break
		}
		attributes := make(map[string]any, len(v))
		for name := range v {
			attributes[name] = typeOf(v[name])
		}
		return []any{"object", attributes}
	}
	return "dynamic"
}

// isUnknownJSON reports whether a decoded JSON value is [unknown].
func isUnknownJSON(v map[string]any) bool {
	_, ok := v[""].(json.Number)
	return ok && len(v) == 1
}

// unknownPart is an unknown value within another value.
type unknownPart struct{}

func (unknownPart) MarshalJSON() ([]byte, error) { return []byte(unknown), nil }

func init() {
	for _, id := range []int8{0, 12} { // of go-cty: without and with refinements
		msgpack.RegisterExtDecoder(id, unknownPart{}, func(dec *msgpack.Decoder, _ reflect.Value, n int) error {
			return dec.ReadFull(make([]byte, n))
		})
	}
}

// toJSON returns a value as JSON. Equal values have equal JSON.
func toJSON(raw msgpack.RawMessage) ([]byte, error) {
	v, err := msgpack.NewDecoder(bytes.NewReader(raw)).DecodeInterfaceLoose()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func decodeJSON(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// encode returns a decoded JSON value in MessagePack, with sorted keys like Terraform's. It modifies v.
func encode(v any) (msgpack.RawMessage, error) {
	var b bytes.Buffer
	enc := msgpack.NewEncoder(&b)
	enc.SetSortMapKeys(true)
	enc.UseCompactInts(true)
	err := enc.Encode(encodable(v))
	return b.Bytes(), err
}

func encodable(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil && strconv.FormatFloat(n, 'f', -1, 64) == v.String() {
			return n
		}
		return v.String() // a number that no float represents exactly
	case []any:
		for i := range v {
			v[i] = encodable(v[i])
		}
	case map[string]any:
		if isUnknownJSON(v) {
			return unknownRaw
		}
		for name := range v {
			v[name] = encodable(v[name])
		}
	}
	return v
}
