package api

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Field is a parameter of a request, a body, or a value in a body, as declared by its type and tags. It
// must not be changed. Fixtures and faults use such tags too.
type Field struct {
	// In is path, query, header or body, or empty for a value in a body.
	In string
	// Name is empty for a body and for an element of a list.
	Name string
	// Index is for reflect.Value.FieldByIndex of the struct that declares the field.
	Index []int
	// Kind is String, Int64 for any integer, Bool, Slice for a list or Struct for an object. Values of
	// other kinds are not checked.
	Kind reflect.Kind
	// Required means that a member of an object can be neither absent nor null.
	Required bool
	// Removable reports that null removes the value: the field is a [Nullable].
	Removable bool

	Description, Default, Format, Pattern string

	// A missing bound is nil.
	MinLength, MaxLength, Minimum, Maximum, MinItems, MaxItems *int64

	Enum []string
	// Members are the fields of an object by name; empty for a free-form object.
	Members []*Field
	// Element describes the elements of a list.
	Element *Field
}

// fieldsByType caches the results of FieldsOf: reflect.Type to []*Field.
var fieldsByType sync.Map

// FieldsOf returns the fields of a request, or the JSON fields of a struct, in their order.
func FieldsOf(t reflect.Type) []*Field {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.([]*Field)
	}
	var fields []*Field
	for _, f := range reflect.VisibleFields(t) {
		if in, name := nameOf(f); in != "" || name != "" {
			field := newField(f.Type, f.Tag)
			field.In, field.Name, field.Index = in, name, f.Index
			fields = append(fields, field)
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// nameOf returns the part of a request that contains a struct field, and the field's name there. Both
// are empty for a field outside the contract.
func nameOf(f reflect.StructField) (in, name string) {
	for _, in := range []string{"path", "query", "header"} {
		if name := f.Tag.Get(in); name != "" {
			return in, name
		}
	}
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && f.Name == "Body" {
		in = "body"
	}
	return in, name
}

func newField(t reflect.Type, tag reflect.StructTag) *Field {
	f := &Field{
		Required:    tag.Get("json") != "" && !strings.Contains(tag.Get("json"), ",omit"),
		Description: tag.Get("doc"), Default: tag.Get("default"), Format: tag.Get("format"), Pattern: tag.Get("pattern"),
		MinLength: bound(tag, "minLength"), MaxLength: bound(tag, "maxLength"), Minimum: bound(tag, "minimum"), Maximum: bound(tag, "maximum"),
		MinItems: bound(tag, "minItems"), MaxItems: bound(tag, "maxItems"),
	}
	if enum := tag.Get("enum"); enum != "" {
		f.Enum = strings.Split(enum, ",")
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[FreeForm]():
		f.Kind = reflect.Struct
		return f
	case reflect.TypeFor[Nullable[string]]():
		f.Removable = true
		t = reflect.TypeFor[string]()
	}
	switch f.Kind = t.Kind(); f.Kind {
	case reflect.Int:
		f.Kind = reflect.Int64
	case reflect.Slice:
		f.Element = newField(t.Elem(), "")
	case reflect.Struct:
		f.Members = slices.SortedFunc(slices.Values(FieldsOf(t)), func(a, b *Field) int { return cmp.Compare(a.Name, b.Name) })
	}
	return f
}

func bound(tag reflect.StructTag, key string) *int64 {
	value, ok := tag.Lookup(key)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		panic("api: tag " + key + " is no number: " + value)
	}
	return &n
}

// FieldOf returns the field of T with the name in JSON or in a query, so that a caller can check a value
// before sending it. It panics if T lacks the field.
func FieldOf[T any](name string) *Field {
	fields := FieldsOf(reflect.TypeFor[T]())
	i := slices.IndexFunc(fields, func(f *Field) bool { return f.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("api: %s has no field %q; declare it there, or correct the name", reflect.TypeFor[T](), name))
	}
	return fields[i]
}

// Body returns the body of the operation's requests, or nil if it takes no body.
func (s Spec) Body() *Field {
	for _, f := range FieldsOf(s.Request) {
		if f.In == "body" {
			return f
		}
	}
	return nil
}
