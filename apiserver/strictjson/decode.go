package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Described is implemented by types that know better than "a string" what JSON
// they take, such as `a duration such as "250ms"`.
type Described interface {
	JSONForm() string
}

// Unmarshal decodes JSON into v, which points to a struct. The error is an *Error
// unless data is not JSON at all; v has then what was right.
func Unmarshal(data []byte, v any) error {
	d := &decoder{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	// The syntax is checked of the whole first: then only the contents can be
	// wrong below.
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("line %d: this is not JSON: %w", d.lineAt(syntax.Offset), err)
		}
		return err
	}
	if err := d.value(reflect.ValueOf(v).Elem(), ""); err != nil {
		return err
	}
	if d.wrong.Problems != nil {
		return &d.wrong
	}
	return nil
}

// decoder collects what is wrong and goes on. The errors that its methods return
// are those of reading, of which there are none once the syntax is right.
type decoder struct {
	data  []byte
	dec   *json.Decoder
	wrong Error
	// line is that of the offset, up to which they are counted.
	line   int
	offset int64
}

// lineAt returns the line that an offset lies in. The offsets ascend.
func (d *decoder) lineAt(offset int64) int {
	offset = min(offset, int64(len(d.data)))
	d.line += bytes.Count(d.data[d.offset:offset], []byte("\n"))
	d.offset = offset
	return 1 + d.line
}

// fail notes a problem of what was read last.
func (d *decoder) fail(path, format string, args ...any) {
	if len(d.wrong.Problems) == maxProblems {
		d.wrong.More++
		return
	}
	d.wrong.Problems = append(d.wrong.Problems, Problem{d.lineAt(d.dec.InputOffset()), path, fmt.Sprintf(format, args...)})
}

func (d *decoder) value(v reflect.Value, path string) error {
	if reflect.PointerTo(v.Type()).Implements(textUnmarshaler) {
		return d.leaf(v, path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), path)
	case reflect.Struct:
		fields, names := fieldsOf(v.Type())
		return d.object(path, func(name string) error {
			if index := fields[name]; index != nil {
				return d.value(v.FieldByIndex(index), join(path, name))
			}
			d.fail(path, "unknown field %q; there are %s", name, strings.Join(names, ", "))
			return d.skip()
		})
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		return d.object(path, func(name string) error {
			member := reflect.New(v.Type().Elem()).Elem()
			err := d.value(member, join(path, name))
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), member)
			return err
		})
	case reflect.Slice:
		return d.array(v, path)
	}
	return d.leaf(v, path)
}

// object reads an object; member reads the value of each name.
func (d *decoder) object(path string, member func(name string) error) error {
	if ok, err := d.open('{', "an object", path); !ok {
		return err
	}
	seen := map[string]bool{}
	for d.dec.More() {
		token, err := d.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if seen[name] {
			d.fail(path, "the field %q is given twice", name)
			err = d.skip()
		} else {
			seen[name] = true
			err = member(name)
		}
		if err != nil {
			return err
		}
	}
	return d.close()
}

func (d *decoder) array(v reflect.Value, path string) error {
	if ok, err := d.open('[', "an array", path); !ok {
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

func (d *decoder) leaf(v reflect.Value, path string) error {
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return err
	}
	if string(raw) == "null" {
		d.fail(path, "must not be null; leave the field out")
		return nil
	}
	err := json.Unmarshal(raw, v.Addr().Interface())
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		article := "a"
		if mismatch.Value == "object" || mismatch.Value == "array" {
			article = "an"
		}
		d.fail(path, "must be %s and not %s %s", inWords(v), article, mismatch.Value)
	} else if err != nil {
		d.fail(path, "%s", err)
	}
	return nil
}

// open reads the delimiter that begins an object or an array, or else skips the
// value.
func (d *decoder) open(delim json.Delim, kind, path string) (ok bool, err error) {
	token, err := d.dec.Token()
	if err != nil || token == delim {
		return err == nil, err
	}
	d.fail(path, "must be %s", kind)
	if _, nested := token.(json.Delim); !nested {
		return false, nil
	}
	for depth := 1; depth > 0; {
		if token, err = d.dec.Token(); err != nil {
			return false, err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return false, nil
}

// close reads the delimiter that ends it.
func (d *decoder) close() error {
	_, err := d.dec.Token()
	return err
}

// skip reads a value.
func (d *decoder) skip() error { return d.dec.Decode(new(json.RawMessage)) }

// fieldsOf returns the fields of a struct by their names in JSON, and the names
// in order.
func fieldsOf(t reflect.Type) (fields map[string][]int, names []string) {
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

// inWords says what JSON a leaf takes.
func inWords(v reflect.Value) string {
	described, ok := reflect.TypeAssert[Described](v)
	switch {
	case ok:
		return described.JSONForm()
	case v.Kind() == reflect.Bool:
		return "true or false"
	case reflect.PointerTo(v.Type()).Implements(textUnmarshaler), v.Kind() == reflect.String:
		return "a string"
	case v.CanInt(), v.CanUint():
		return "an integer"
	}
	return "a number"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
