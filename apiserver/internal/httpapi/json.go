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

	"github.com/danielgtaylor/huma/v2"
)

// The bounds of a request body: the nesting of its arrays and objects, and how
// many values they hold in all. A problem can be found with each.
const (
	maxDepth  = 64
	maxValues = 50_000
)

var (
	errTooDeep  = errors.New("nested too deeply")
	errTooMany  = errors.New("more values than any request needs")
	errNoText   = errors.New("text that is no Unicode")
	errTrailing = errors.New("more than one value")
)

// jsonFormat is how bodies are read and written.
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: decodeJSON}

// decodeJSON decodes into the generic value that huma validates, and then into
// the request type. encoding/json matches names without regard to case, so that
// {"ttl":60,"TTL":1} would be validated as 60 and decoded as 1: the second
// decoding is given only the names that the first one saw.
func decodeJSON(data []byte, v any) error {
	if err := checkSize(data); err != nil {
		return err
	}
	if err := checkText(data); err != nil {
		return err
	}
	var parsed any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // free-form attributes keep large numbers
	if err := dec.Decode(&parsed); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	if generic, ok := v.(*any); ok {
		*generic = floats(parsed)
		return nil
	}
	known, err := json.Marshal(onlyKnown(parsed, reflect.TypeOf(v).Elem()))
	if err != nil {
		return err
	}
	return json.Unmarshal(known, v)
}

// floats turns numbers into what the validation knows. One that is too large for
// that stays as it is: in free-form attributes it is welcome, elsewhere no number.
func floats(value any) any {
	switch value := value.(type) {
	case json.Number:
		if f, err := value.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range value {
			value[i] = floats(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = floats(value[name])
		}
	}
	return value
}

// onlyKnown returns value without the object members that t has no field for.
func onlyKnown(value any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case json.Number:
		// 60.0 and 6e1 are integers to the validation, but not to encoding/json.
		if f, err := value.Float64(); err == nil && t.Kind() == reflect.Int64 && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for i := range value {
				value[i] = onlyKnown(value[i], t.Elem())
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return value
		}
		known := map[string]any{}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if member, ok := value[name]; ok && name != "" {
				known[name] = onlyKnown(member, f.Type)
			}
		}
		return known
	}
	return value
}

// checkSize refuses what would cost much to decode and means nothing.
func checkSize(data []byte) error {
	depth, values := 0, 0
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('}'), json.Delim(']'):
			depth--
			continue
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return errTooDeep
			}
		}
		if values++; values > maxValues { // names of members count too
			return errTooMany
		}
	}
}

// checkText refuses what encoding/json would replace by U+FFFD: bytes that are no
// UTF-8, and halves of surrogate pairs (RFC 8259, sections 8.1 and 8.2). Two
// different secrets would become the same.
func checkText(data []byte) error {
	if !utf8.Valid(data) {
		return errNoText
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
			return errNoText
		}
		i += 2*len(`\u0000`) - 1
	}
	return nil
}

// escaped returns the character of the escape \uXXXX that data begins with, or -1.
func escaped(data []byte) rune {
	if len(data) < len(`\u0000`) || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
