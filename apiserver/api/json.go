package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxDepth is the nesting of arrays and objects that a request body may have.
const maxDepth = 64

var errTooDeep = errors.New("nested too deeply")

// jsonFormat is how bodies are read and written.
var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: decodeJSON}

// decodeJSON decodes into the generic value that huma validates, and then into
// the request type. encoding/json matches names without regard to case, so that
// {"ttl":60,"TTL":1} would be validated as 60 and decoded as 1: the second
// decoding is given only the names that the first one saw.
func decodeJSON(data []byte, v any) error {
	if err := checkDepth(data); err != nil {
		return err
	}
	if _, generic := v.(*any); generic {
		return json.Unmarshal(data, v)
	}
	var parsed any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // free-form attributes keep large numbers
	if err := dec.Decode(&parsed); err != nil {
		return err
	}
	known, err := json.Marshal(onlyKnown(parsed, reflect.TypeOf(v).Elem()))
	if err != nil {
		return err
	}
	return json.Unmarshal(known, v)
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

// checkDepth refuses what would cost much to decode and means nothing.
func checkDepth(data []byte) error {
	depth := 0
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return errTooDeep
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}
