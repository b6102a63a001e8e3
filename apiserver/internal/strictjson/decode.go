// Package strictjson decodes JSON written by people: fixtures and bodies of the control
// plane.
//
// Unlike encoding/json it compares field names exactly, rejects unknown and duplicate
// fields and null, and reports all problems with their lines.
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

// Described is implemented by types with their own description of the JSON that they
// accept, such as `a duration such as "250ms"`.
type Described interface {
	JSONForm() string
}

// Unmarshal decodes JSON into v, a pointer to a struct. The error is an *Error if data
// is JSON; v then has the valid members.
func Unmarshal(data []byte, v any) error {
	d := &decoder{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	// Check the syntax first, so that only contents can be wrong below.
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

// decoder collects problems and continues. The errors of its methods are syntax errors,
// which can't occur after the check in Unmarshal.
type decoder struct {
	data  []byte
	dec   *json.Decoder
	wrong Error
	// line is the line of offset, counted from 0.
	line   int
	offset int64
}

// lineAt returns the line of an offset, which must not be less than in the last call.
func (d *decoder) lineAt(offset int64) int {
	offset = min(offset, int64(len(d.data)))
	d.line += bytes.Count(d.data[d.offset:offset], []byte("\n"))
	d.offset = offset
	return 1 + d.line
}

// fail adds a problem with the value that was read last.
func (d *decoder) fail(path, format string, args ...any) {
	d.wrong.Add(Problem{d.lineAt(d.dec.InputOffset()), path, fmt.Sprintf(format, args...)})
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

// object reads an object and calls member for the value of each name.
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
	// An empty array is not nil.
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
		d.fail(path, "must be %s and not %s %s", jsonForm(v), article, mismatch.Value)
	} else if err != nil {
		d.fail(path, "%s", err)
	}
	return nil
}

// open reads the start of an object or an array, or skips any other value.
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

// close reads the end of an object or an array.
func (d *decoder) close() error {
	_, err := d.dec.Token()
	return err
}

func (d *decoder) skip() error { return d.dec.Decode(new(json.RawMessage)) }

// fieldsOf returns the fields of a struct by JSON name, and the names in order.
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

// jsonForm describes the JSON that a leaf accepts.
func jsonForm(v reflect.Value) string {
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

// maxProblems limits the problems in an Error, because a mistake in a generated file is
// in all of its lines.
const maxProblems = 20

// Problem is a problem with one value.
type Problem struct {
	// Line counts from 1; 0 if it is not known.
	Line int
	// Path is the path of the value, such as accounts[0].status; "" is the whole.
	Path    string
	Message string
}

// String returns the path, if any, and the message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error lists the problems of JSON that does not match its type.
type Error struct {
	Problems []Problem
	// More is the number of further problems.
	More int
}

// Add adds a problem, or counts it if there are very many already.
func (e *Error) Add(p Problem) {
	if len(e.Problems) == maxProblems {
		e.More++
		return
	}
	e.Problems = append(e.Problems, p)
}

// Error returns one line per problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if lines[i] = p.String(); p.Line > 0 {
			lines[i] = fmt.Sprintf("line %d: %s", p.Line, p)
		}
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more problems", e.More))
	}
	return strings.Join(lines, "\n")
}
