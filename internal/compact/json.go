package compact

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// The encodings of null and of an unknown value in MessagePack. Terraform may add to an
// unknown value what it knows of it.
var (
	nullRaw    = msgpack.RawMessage{msgpcode.Nil}
	unknownRaw = msgpack.RawMessage{msgpcode.FixExt1, 0, 0}
)

func isNull(raw []byte) bool    { return raw[0] == msgpcode.Nil }
func isUnknown(raw []byte) bool { return msgpcode.IsExt(raw[0]) }

// unwrap returns the value of an attribute of dynamic type, which is encoded as an array of
// its type and itself. Null and unknown values may lack the type.
func unwrap(raw msgpack.RawMessage) (msgpack.RawMessage, error) {
	if isNull(raw) || isUnknown(raw) {
		return raw, nil
	}
	dec := msgpack.NewDecoder(bytes.NewReader(raw))
	if n, err := dec.DecodeArrayLen(); err != nil || n != 2 {
		return nil, errors.New("a value of dynamic type has no type")
	}
	if err := dec.Skip(); err != nil {
		return nil, err
	}
	return dec.DecodeRaw()
}

// wrap returns a value of dynamic type with its type, in decoded JSON.
func wrap(raw msgpack.RawMessage, kind any) (msgpack.RawMessage, error) {
	text, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := msgpack.NewEncoder(&b)
	if err := enc.EncodeArrayLen(2); err != nil {
		return nil, err
	}
	if err := enc.EncodeBytes(text); err != nil {
		return nil, err
	}
	err = enc.Encode(raw)
	return b.Bytes(), err
}

// typeOf returns the type of a decoded JSON value in the JSON that the plugin protocol has
// for types.
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

// writeJSON appends a value as JSON. Equal values have equal JSON.
func writeJSON(b *bytes.Buffer, dec *msgpack.Decoder) error {
	code, err := dec.PeekCode()
	if err != nil {
		return err
	}
	switch {
	case msgpcode.IsExt(code):
		b.WriteString(unknown)
		return dec.Skip()
	case code == msgpcode.Nil:
		b.WriteString("null")
		return dec.DecodeNil()
	case msgpcode.IsString(code):
		s, err := dec.DecodeString()
		writeString(b, s)
		return err
	case code == msgpcode.True, code == msgpcode.False:
		is, err := dec.DecodeBool()
		b.WriteString(strconv.FormatBool(is))
		return err
	case code == msgpcode.Float, code == msgpcode.Double:
		n, err := dec.DecodeFloat64()
		b.WriteString(strconv.FormatFloat(n, 'f', -1, 64))
		return err
	case code == msgpcode.Uint64:
		n, err := dec.DecodeUint64()
		b.WriteString(strconv.FormatUint(n, 10))
		return err
	case msgpcode.IsFixedArray(code), code == msgpcode.Array16, code == msgpcode.Array32:
		return writeArray(b, dec)
	case msgpcode.IsFixedMap(code), code == msgpcode.Map16, code == msgpcode.Map32:
		return writeMap(b, dec)
	}
	n, err := dec.DecodeInt64()
	b.WriteString(strconv.FormatInt(n, 10))
	return err
}

func writeArray(b *bytes.Buffer, dec *msgpack.Decoder) error {
	n, err := dec.DecodeArrayLen()
	if err != nil {
		return err
	}
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeJSON(b, dec); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// writeMap appends a map or an object with its keys in alphabetical order. That is the
// order of Terraform, but the protocol does not promise it.
func writeMap(b *bytes.Buffer, dec *msgpack.Decoder) error {
	n, err := dec.DecodeMapLen()
	if err != nil {
		return err
	}
	written := make(map[string]string, n)
	keys := make([]string, n)
	start := b.Len()
	for i := range keys {
		if keys[i], err = dec.DecodeString(); err != nil {
			return err
		}
		if err := writeJSON(b, dec); err != nil {
			return err
		}
		written[keys[i]] = string(b.Bytes()[start:])
		b.Truncate(start)
	}
	slices.Sort(keys)
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		writeString(b, key)
		b.WriteByte(':')
		b.WriteString(written[key])
	}
	b.WriteByte('}')
	return nil
}

func writeString(b *bytes.Buffer, s string) {
	escaped, _ := json.Marshal(s) // a string can't fail
	b.Write(escaped)
}

func decodeJSON(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func encode(v any) (msgpack.RawMessage, error) {
	var b bytes.Buffer
	err := writeValue(msgpack.NewEncoder(&b), v)
	return b.Bytes(), err
}

// writeValue appends a decoded JSON value in MessagePack.
func writeValue(enc *msgpack.Encoder, v any) error {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return enc.EncodeInt(n)
		}
		if n, err := v.Float64(); err == nil && strconv.FormatFloat(n, 'f', -1, 64) == v.String() {
			return enc.EncodeFloat64(n)
		}
		return enc.EncodeString(v.String()) // a number that no float has
	case []any:
		if err := enc.EncodeArrayLen(len(v)); err != nil {
			return err
		}
		for _, item := range v {
			if err := writeValue(enc, item); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if isUnknownJSON(v) {
			return enc.Encode(unknownRaw)
		}
		if err := enc.EncodeMapLen(len(v)); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := enc.EncodeString(key); err != nil {
				return err
			}
			if err := writeValue(enc, v[key]); err != nil {
				return err
			}
		}
		return nil
	}
	return enc.Encode(v) // nil, a string or a bool
}
