package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The bounds of a request body: the depth of its values, and their number with names of members.
const (
	maxDepth  = 64
	maxValues = 50_000
)

var errNotJSON = errors.New("not JSON in Unicode within the bounds")

// decodeJSON reads a request body, with numbers as json.Number.
func decodeJSON(data []byte) (any, error) {
	if !isUnicode(data) {
		return nil, errNotJSON
	}
	d := jsonDecoder{Decoder: json.NewDecoder(bytes.NewReader(data))}
	d.UseNumber()
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) { // more than one value
		return nil, errNotJSON
	}
	return value, nil
}

// jsonDecoder decodes values within the bounds.
type jsonDecoder struct {
	*json.Decoder
	depth, values int
}

func (d *jsonDecoder) token() (json.Token, error) {
	if d.values++; d.values > maxValues {
		return nil, errNotJSON
	}
	return d.Token()
}

func (d *jsonDecoder) value() (any, error) {
	token, err := d.token()
	start, nested := token.(json.Delim)
	if err != nil || !nested {
		return token, err
	}
	if d.depth++; d.depth > maxDepth {
		return nil, errNotJSON
	}
	list, object := []any{}, map[string]any{}
	for d.More() {
		var name json.Token
		if start == '{' {
			if name, err = d.token(); err != nil {
				return nil, err
			}
		}
		member, err := d.value()
		if err != nil {
			return nil, err
		}
		if start == '{' {
			object[name.(string)] = member
		} else {
			list = append(list, member)
		}
	}
	d.depth--
	if _, err = d.Token(); start == '{' {
		return object, err
	}
	return list, err
}

// assign sets v, a part of a request, to a value of decodeJSON, and reports whether it fits. It
// goes on after what does not fit. Unlike encoding/json, it compares names exactly, takes 60.0
// and 6e1 for integers, as JSON Schema does, and sets absent fields to the default of their tag.
func assign(v reflect.Value, value any) bool {
	if custom, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok {
		text, err := json.Marshal(value)
		return err == nil && custom.UnmarshalJSON(text) == nil
	}
	if value == nil {
		return true
	}
	switch value := value.(type) {
	case string:
		if v.Kind() == reflect.String {
			v.SetString(value)
			return true
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(value)
			return true
		}
	case json.Number:
		if n, ok := wholeNumber(value); ok && v.CanInt() {
			v.SetInt(n)
			return true
		}
	case []any:
		if v.Kind() == reflect.Slice {
			return assignItems(v, value)
		}
	case map[string]any:
		if v.Kind() == reflect.Struct {
			return assignFields(v, value)
		}
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem())) // a value that does not fit is present nevertheless
		return assign(v.Elem(), value)
	}
	return false
}

func assignItems(v reflect.Value, list []any) bool {
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	fits := true
	for i, item := range list {
		fits = assign(v.Index(i), item) && fits
	}
	return fits
}

func assignFields(v reflect.Value, object map[string]any) bool {
	fits := true
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		field := v.FieldByIndex(f.Index)
		if member, sent := object[name]; sent {
			fits = assign(field, member) && fits
		}
		if byDefault := f.Tag.Get("default"); byDefault != "" && field.IsZero() {
			parse(field, byDefault)
		}
	}
	return fits
}

// parse sets v to the value of a parameter or a default, and returns it as decodeJSON would.
func parse(v reflect.Value, text string) (value any, ok bool) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return parse(v.Elem(), text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return b, err == nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return json.Number(strconv.FormatInt(n, 10)), err == nil
	}
	v.SetString(text)
	return text, true
}

func wholeNumber(number json.Number) (int64, bool) {
	if n, err := number.Int64(); err == nil {
		return n, true
	}
	f, err := number.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// isUnicode reports whether JSON has no bytes and escapes that encoding/json would replace by
// U+FFFD (RFC 8259, sections 8.1 and 8.2): two different secrets would become the same.
func isUnicode(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		first := escaped(data[i:])
		if !utf16.IsSurrogate(first) {
			i++ // what is escaped, a backslash perhaps
			continue
		}
		if utf16.DecodeRune(first, escaped(data[i+len(`\u0000`):])) == unicode.ReplacementChar {
			return false
		}
		i += 2*len(`\u0000`) - 1
	}
	return true
}

// escaped returns the character of the escape \uXXXX that data begins with, or 0.
func escaped(data []byte) rune {
	if len(data) < len(`\u0000`) || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(data[2:6]), 16, 16) // 0 unless it is a number
	return rune(n)
}
