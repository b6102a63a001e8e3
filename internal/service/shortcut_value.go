package service

import (
	"bytes"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// An object of the plugin protocol is a MessagePack map. Its values are left encoded
// where that suffices.

const nilCode = 0xc0

// unknown is the encoding of an unknown value.
var unknown = msgpack.RawMessage{msgpcode.FixExt1, 0, 0}

// field is an attribute of an encoded object.
type field struct {
	name string
	raw  msgpack.RawMessage
}

type fieldKind int

const (
	null   fieldKind = iota
	scalar           // a known string, bool or number
	other
)

func (f field) kind() fieldKind {
	switch c := f.raw[0]; {
	case c == nilCode:
		return null
	case msgpcode.IsString(c), msgpcode.IsFixedNum(c), c == msgpcode.True, c == msgpcode.False,
		c >= msgpcode.Float && c <= msgpcode.Int64:
		return scalar
	}
	return other
}

// text returns a known string.
func (f field) text() (s string, ok bool) {
	return s, msgpcode.IsString(f.raw[0]) && msgpack.Unmarshal(f.raw, &s) == nil
}

type fields []field

// split returns the attributes of an encoded object, or false if it is null.
func split(object []byte) (all fields, ok bool) {
	dec := msgpack.NewDecoder(bytes.NewReader(object))
	n, err := dec.DecodeMapLen()
	if err != nil || n < 0 {
		return nil, false
	}
	all = make(fields, n)
	for i := range all {
		if all[i].name, err = dec.DecodeString(); err != nil {
			return nil, false
		}
		if all[i].raw, err = dec.DecodeRaw(); err != nil || len(all[i].raw) == 0 {
			return nil, false
		}
	}
	return all, true
}

// text returns a string attribute, or "".
func (all fields) text(name string) string {
	for _, f := range all {
		if f.name == name {
			s, _ := f.text()
			return s
		}
	}
	return ""
}

// IsNull reports whether an encoded object is null.
func IsNull(object []byte) bool { return len(object) == 1 && object[0] == nilCode }

// matches reports whether [Flatten] sets no attribute of a decoded object to another
// value.
func matches(state map[string]any, response any) bool {
	same := true
	eachField(reflect.Indirect(reflect.ValueOf(response)), func(name string, field reflect.Value) {
		if value, ok := state[name]; same && ok {
			same = sameValue(value, field)
		}
	})
	return same
}

// sameValue reports whether a decoded value is that of a field of a response, as valueOf
// converts it. In doubt it is not.
func sameValue(value any, field reflect.Value) bool {
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return value == nil
		}
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.String:
		return value == field.String()
	case reflect.Bool:
		return value == field.Bool()
	case reflect.Int, reflect.Int64:
		n := reflect.ValueOf(value)
		return n.IsValid() && (n.CanInt() && n.Int() == field.Int() || n.CanUint() && field.Int() >= 0 && n.Uint() == uint64(field.Int()))
	case reflect.Struct:
		object, ok := value.(map[string]any)
		n := 0
		eachField(field, func(string, reflect.Value) { n++ })
		return ok && len(object) == n && matches(object, field.Interface())
	case reflect.Slice:
		items, ok := value.([]any)
		if !ok || len(items) != field.Len() {
			return false
		}
		for i, item := range items {
			if !sameValue(item, field.Index(i)) {
				return false
			}
		}
		return true
	}
	return false
}
