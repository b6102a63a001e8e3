package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ContractError says how a response differs from the API's contract. It quotes no value of the response.
type ContractError struct {
	Difference string
	BaseURL    string // of the host
	InChange   bool   // the request changes something, so that no plan shows the difference
}

func (e *ContractError) Error() string {
	command := "run mailhostd proxy --upstream " + e.BaseURL + " --read-only -- terraform plan"
	if e.InChange {
		command = "apply a small module that buys nothing: mailhostd proxy --upstream " + e.BaseURL + " -- terraform apply"
	}
	return e.Difference + "; to see each difference of this host, " + command
}

// decode decodes the body of a success. It accepts a number or a boolean as text, a text as a number, and an empty
// text for null.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	_, isWrongType := errors.AsType[*json.UnmarshalTypeError](err)
	if err != nil && !isWrongType {
		return err
	}
	response := reflect.ValueOf(v).Elem()
	if isPage := response.Kind() == reflect.Struct && response.FieldByName("Items").IsValid(); isPage {
		var page struct{ Items json.RawMessage }
		if json.Unmarshal(body, &page) == nil && page.Items == nil { // unlike null, which is an empty list
			return errNoItems
		}
	}
	if isWrongType {
		var value any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		_ = dec.Decode(&value) // it is valid
		converted, _ := json.Marshal(convert(value, fieldOf(response.Type())))
		response.SetZero()
		if json.Unmarshal(converted, v) != nil {
			return err
		}
	}
	setNull(response)
	return nil
}

// setNull sets each optional text to null that is empty.
func setNull(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, member := range v.Fields() {
			setNull(member)
		}
	case reflect.Slice:
		for i := range v.Len() {
			setNull(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if text := v.Elem(); text.Kind() == reflect.String && text.Len() == 0 {
			v.SetZero()
			return
		}
		setNull(v.Elem())
	}
}

func fieldOf(t reflect.Type) *api.Field {
	if t.Kind() == reflect.Slice {
		return &api.Field{Kind: reflect.Slice, Element: fieldOf(t.Elem())}
	}
	return &api.Field{Kind: reflect.Struct, Members: api.FieldsOf(t)}
}

// convert returns a value with the types of the contract, where the meaning is the same.
func convert(v any, f *api.Field) any {
	switch v := v.(type) {
	case map[string]any:
		for _, m := range f.Members {
			if member, ok := v[m.Name]; ok {
				v[m.Name] = convert(member, m)
			}
		}
	case []any:
		for i := range v {
			if f.Element != nil {
				v[i] = convert(v[i], f.Element)
			}
		}
	case string:
		if v == "" && (f.Kind == reflect.Bool || f.Kind == reflect.Int64) {
			return nil
		}
		if b, err := strconv.ParseBool(v); f.Kind == reflect.Bool && err == nil && len(v) > 1 { // not "1"
			return b
		}
		if f.Kind == reflect.Int64 {
			return whole(v)
		}
	case json.Number:
		if f.Kind == reflect.Int64 {
			return whole(v.String())
		}
		if f.Kind == reflect.String {
			return v.String()
		}
	}
	return v
}

// whole returns the integer that a text contains, which may end with .0, or the text.
func whole(s string) any {
	digits, fraction, _ := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && strings.Trim(fraction, "0") == "" {
		return n
	}
	return s
}

// errNoItems means that a page has no objects. Without the error, the list would look empty.
var errNoItems = errors.New("the member items is missing")

// mismatch returns how a successful response differs from the contract.
func (c *Call) mismatch(resp *http.Response, err error) *ContractError {
	return &ContractError{describe(resp, err), c.t.BaseURL, c.spec.Changes()}
}

// describe explains why a successful response is unreadable, without quoting a secret.
func describe(resp *http.Response, err error) string {
	mediaType := mediaType(resp)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		found, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Sprintf("the response is not what the API's contract says: %s is a JSON %s, not %s", cmp.Or(wrong.Field, "the whole"), found, typeName(wrong.Type))
	}
	if errors.Is(err, errNoItems) {
		return "the response is not what the API's contract says: " + err.Error()
	}
	if mediaType != "" && !strings.HasSuffix(mediaType, "json") {
		return fmt.Sprintf("the response is %s, not the API's JSON; is the base URL right?", clean(mediaType, 60))
	}
	return "the response is no valid JSON"
}

// typeName names the JSON type of a Go type.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "an integer"
}
