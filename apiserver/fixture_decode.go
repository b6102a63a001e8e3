package apiserver

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// decodeStrict decodes JSON into a struct. Unlike encoding/json it compares the
// names of fields exactly, refuses those that the struct does not have, null,
// and a name that is given twice, and says where something is wrong.
func decodeStrict(data []byte, v any) error {
	d := &strictDecoder{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	// The syntax is checked of the whole first: then only the contents can be
	// wrong below.
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("line %d: this is not JSON: %w", d.line(syntax.Offset), err)
		}
		return err
	}
	return d.value(reflect.ValueOf(v).Elem(), "")
}

type strictDecoder struct {
	data []byte
	dec  *json.Decoder
}

// line returns the line that an offset lies in.
func (d *strictDecoder) line(offset int64) int {
	return 1 + bytes.Count(d.data[:min(offset, int64(len(d.data)))], []byte("\n"))
}

// fail returns an error about what was read last.
func (d *strictDecoder) fail(path, format string, args ...any) error {
	place := "line " + strconv.Itoa(d.line(d.dec.InputOffset()))
	if path != "" {
		place += ": " + path
	}
	return fmt.Errorf("%s: %s", place, fmt.Sprintf(format, args...))
}

func (d *strictDecoder) value(v reflect.Value, path string) error {
	if v.CanAddr() && v.Addr().Type().Implements(textUnmarshaler) {
		return d.leaf(v, path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), path)
	case reflect.Struct:
		return d.object(v, path)
	case reflect.Slice:
		return d.array(v, path)
	}
	return d.leaf(v, path)
}

func (d *strictDecoder) object(v reflect.Value, path string) error {
	if err := d.open('{', "an object", path); err != nil {
		return err
	}
	fields, names := jsonFields(v.Type())
	seen := map[string]bool{}
	for d.dec.More() {
		token, err := d.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		switch {
		case seen[name]:
			return d.fail(path, "the field %q is given twice", name)
		case fields[name] == nil:
			return d.fail(path, "unknown field %q; there are %s", name, strings.Join(names, ", "))
		}
		seen[name] = true
		if err := d.value(v.FieldByIndex(fields[name]), join(path, name)); err != nil {
			return err
		}
	}
	return d.close()
}

func (d *strictDecoder) array(v reflect.Value, path string) error {
	if err := d.open('[', "an array", path); err != nil {
		return err
	}
	// An empty array is not the same as none.
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i := 0; d.dec.More(); i++ {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := d.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return d.close()
}

func (d *strictDecoder) leaf(v reflect.Value, path string) error {
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	if string(raw) == "null" {
		return d.fail(path, "must not be null; leave the field out")
	}
	err := json.Unmarshal(raw, v.Addr().Interface())
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return d.fail(path, "must be %s and not a %s", inWords(mismatch.Type), mismatch.Value)
	}
	if err != nil {
		return d.fail(path, "%s", err)
	}
	return nil
}

// open reads the delimiter that begins an object or an array.
func (d *strictDecoder) open(delim json.Delim, kind, path string) error {
	token, err := d.dec.Token()
	if err == nil && token != delim {
		return d.fail(path, "must be %s", kind)
	}
	return err
}

// close reads the delimiter that ends it.
func (d *strictDecoder) close() error {
	_, err := d.dec.Token()
	return err
}

// jsonFields returns the fields of a struct by their names in JSON, and the
// names in order.
func jsonFields(t reflect.Type) (fields map[string][]int, names []string) {
	fields = make(map[string][]int, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = f.Index
			names = append(names, name)
		}
	}
	return fields, names
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// inWords says what JSON a leaf's type takes.
func inWords(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String, t.Implements(textUnmarshaler), reflect.PointerTo(t).Implements(textUnmarshaler):
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int:
		return "an integer"
	}
	return "an object"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
