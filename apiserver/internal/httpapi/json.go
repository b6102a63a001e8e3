package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// The limits of a request body: the depth of its values, and the number of values and member names.
const (
	maxDepth  = 64
	maxValues = 50_000
)

var errNotJSON = errors.New("not JSON in Unicode within the bounds")

// countValues returns the number of values and member names of a request body. It refuses text that
// encoding/json would replace by U+FFFD (RFC 8259, sections 8.1 and 8.2), because two different
// secrets would become equal.
func countValues(data []byte) (values int64, err error) {
	tokens := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	for values == 0 || tokens.StackDepth() > 0 {
		token, err := tokens.ReadToken()
		if err != nil {
			return 0, err
		}
		if kind := token.Kind(); kind != jsontext.KindEndObject && kind != jsontext.KindEndArray {
			values++
		}
		if values > maxValues || tokens.StackDepth() > maxDepth {
			return 0, errNotJSON
		}
	}
	if _, err := tokens.ReadToken(); !errors.Is(err, io.EOF) { // more than one value
		return 0, errNotJSON
	}
	return values, nil
}

// decodeJSON decodes a request body that countValues accepts, with numbers as json.Number.
func decodeJSON(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// fitting are the options for assign to decode as much as possible. Unlike in encoding/json, names
// are compared exactly, and an int64 may be written as 60.0 or 6e1, as in JSON Schema.
var fitting = jsonv2.JoinOptions(
	jsonv1.ReportErrorsWithLegacySemantics(true), // errors come after the rest of the value
	jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, n *int64) error {
		text, err := d.ReadValue()
		f, _ := strconv.ParseFloat(string(text), 64)
		*n = int64(f)
		return err
	})),
)

// assign sets body to a value of decodeJSON, as far as the types fit, and absent fields to the
// default of their tag. A valid value fits.
func assign(body reflect.Value, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)                                         // escaping takes six times the memory
	_ = encoder.Encode(value)                                            // value was decoded from JSON
	_ = jsonv2.Unmarshal(text.Bytes(), body.Addr().Interface(), fitting) // the validator reports an error
	for _, f := range api.FieldsOf(body.Type()) {
		if field := body.FieldByIndex(f.Index); f.Default != "" && field.IsZero() {
			parse(field, f.Default)
		}
	}
}

// parse sets v to the value of a parameter or a default. It returns the value like decodeJSON, or
// the text if v can't hold it.
func parse(v reflect.Value, text string) any {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return parse(v.Elem(), text)
	case reflect.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			v.SetBool(b)
			return b
		}
	case reflect.Int, reflect.Int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			v.SetInt(n)
			return json.Number(strconv.FormatInt(n, 10))
		}
	default:
		v.SetString(text)
	}
	return text
}
