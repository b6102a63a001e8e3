// Package strictjson decodes JSON written by people: fixtures, trust files and request bodies of
// the control plane.
//
// It is encoding/json/v2, which compares field names exactly and refuses duplicate names. It also
// refuses unknown fields, and null except in free-form JSON. An error names the line, the place and
// the allowed values.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/spelling"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
)

// Unmarshal decodes JSON into v, a pointer to a struct. It returns the first problem.
func Unmarshal(data []byte, v any) error {
	text, _, err := textfile.Decode(data, nil)
	if err != nil {
		return err
	}
	data = []byte(text)
	err = json.Unmarshal(data, v, json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))
	var offset int64
	var pointer jsontext.Pointer
	var message string
	semantic, isSemantic := errors.AsType[*json.SemanticError](err)
	syntactic, isSyntactic := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case isSyntactic && errors.Is(err, jsontext.ErrDuplicateName):
		offset, pointer = syntactic.ByteOffset, syntactic.JSONPointer.Parent()
		message = fmt.Sprintf("the field %q is given twice", syntactic.JSONPointer.LastToken())
	case isSyntactic:
		offset, message = syntactic.ByteOffset, "this is not JSON: "+cmp.Or(syntactic.Err, err).Error()
	case isSemantic && errors.Is(semantic.Err, json.ErrUnknownName):
		offset, pointer = semantic.ByteOffset, semantic.JSONPointer.Parent()
		message = fmt.Sprintf("unknown field %q; %s", semantic.JSONPointer.LastToken(), spelling.Allowed(semantic.JSONPointer.LastToken(), fieldsOf(semantic.GoType)))
	case isSemantic && semantic.Err != nil && semantic.JSONKind != jsontext.KindNumber && semantic.GoType != reflect.TypeFor[time.Time]():
		offset, pointer, message = semantic.ByteOffset, semantic.JSONPointer, semantic.Err.Error()
	case isSemantic:
		offset, pointer = semantic.ByteOffset, semantic.JSONPointer
		message = "must be " + jsonForm(semantic.GoType)
	default:
		return err // nil, or the type can't be decoded
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
	if place := placeOf(pointer); place != "" {
		message = place + ": " + message
	}
	return fmt.Errorf("line %d: %s", line, message)
}

// refuseNull returns an error for a null, because it would mean the same as an absent field. In
// free-form JSON null is a value.
func refuseNull(d *jsontext.Decoder, v any) error {
	if _, freeForm := v.(*any); d.PeekKind() == jsontext.KindNull && !freeForm {
		if err := d.SkipValue(); err != nil { // only the first letter is that of a null
			return err
		}
		return errors.New("must not be null; leave the field out")
	}
	return errors.ErrUnsupported // decode it as usual
}

// placeOf returns a pointer in a form such as accounts[0].status.
func placeOf(pointer jsontext.Pointer) (place string) {
	for token := range pointer.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			place += "[" + token + "]"
		case place == "":
			place = token
		default:
			place += "." + token
		}
	}
	return place
}

// fieldsOf returns the JSON names of a struct's fields.
func fieldsOf(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// jsonForm describes the JSON that a type accepts. The type may provide the description.
func jsonForm(t reflect.Type) string {
	described, ok := reflect.TypeAssert[interface{ JSONForm() string }](reflect.Zero(t))
	switch kind := t.Kind(); {
	case ok:
		return described.JSONForm()
	case t == reflect.TypeFor[time.Time]():
		return "a time of RFC 3339, such as 2030-01-01T00:00:00Z"
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.Struct, kind == reflect.Map:
		return "an object"
	case kind == reflect.Slice:
		return "an array"
	case reflect.PointerTo(t).Implements(textUnmarshaler), kind == reflect.String:
		return "a string"
	case reflect.Zero(t).CanInt(), reflect.Zero(t).CanUint():
		return "an integer"
	}
	return "a number"
}
