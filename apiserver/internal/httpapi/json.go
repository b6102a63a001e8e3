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

// The bounds of a request body: the depth of its values, and their number with names of members.
const (
	maxDepth  = 64
	maxValues = 50_000
)

var errNotJSON = errors.New("not JSON in Unicode within the bounds")

// decodeJSON reads a request body, with numbers as json.Number. It refuses what encoding/json
// would replace by U+FFFD (RFC 8259, sections 8.1 and 8.2): two different secrets would become
// the same.
func decodeJSON(data []byte) (value any, err error) {
	tokens := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	for values := 0; values == 0 || tokens.StackDepth() > 0; {
		token, err := tokens.ReadToken()
		if err != nil {
			return nil, err
		}
		if kind := token.Kind(); kind != jsontext.KindEndObject && kind != jsontext.KindEndArray {
			values++
		}
		if values > maxValues || tokens.StackDepth() > maxDepth {
			return nil, errNotJSON
		}
	}
	if _, err := tokens.ReadToken(); !errors.Is(err, io.EOF) { // more than one value
		return nil, errNotJSON
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// fitting are the options by which assign decodes what fits. Names are compared exactly, which
// encoding/json does not, and for an int64 60.0 and 6e1 are integers, as in JSON Schema.
var fitting = jsonv2.JoinOptions(
	jsonv1.ReportErrorsWithLegacySemantics(true), // after the rest of the value
	jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, n *int64) error {
		text, err := d.ReadValue()
		f, _ := strconv.ParseFloat(string(text), 64)
		*n = int64(f)
		return err
	})),
)

// assign sets body to a value of decodeJSON as far as that fits, which a valid one does, and its
// absent fields to the default of their tag.
func assign(body reflect.Value, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)                                         // which takes six times the memory
	_ = encoder.Encode(value)                                            // it was decoded from JSON
	_ = jsonv2.Unmarshal(text.Bytes(), body.Addr().Interface(), fitting) // the validator reports it
	for _, f := range api.FieldsOf(body.Type()) {
		if field := body.FieldByIndex(f.Index); f.Default != "" && field.IsZero() {
			parse(field, f.Default)
		}
	}
}

// parse sets v to the value of a parameter or a default, and returns it as decodeJSON would, or
// the text if v can't have that value.
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
