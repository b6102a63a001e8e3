package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// Encoded is a request to an operation, without what a client adds to each.
type Encoded struct {
	// Path is escaped.
	Path   string
	Query  url.Values
	Header http.Header
	// Body is nil if the operation has none.
	Body []byte
}

// Encode encodes a request struct of the operation by its tags. in is a pointer to the struct.
func (s Spec) Encode(in any) (*Encoded, error) {
	e := &Encoded{Path: s.Path, Query: url.Values{}, Header: http.Header{}}
	v := reflect.ValueOf(in).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		if name, ok := f.Tag.Lookup("path"); ok {
			text := fmt.Sprint(value)
			if value.IsZero() || text == "." || text == ".." {
				return nil, fmt.Errorf("%s: %q is no %s", s.ID, text, name)
			}
			e.Path = strings.Replace(e.Path, "{"+name+"}", url.PathEscape(text), 1)
		} else if name, ok := f.Tag.Lookup("query"); ok && !value.IsZero() {
			e.Query.Set(name, fmt.Sprint(value))
		} else if name, ok := f.Tag.Lookup("header"); ok && !value.IsZero() {
			e.Header.Set(name, fmt.Sprint(value))
		} else if f.Name == "Body" {
			body, err := EncodeJSON(value.Interface())
			if err != nil {
				return nil, fmt.Errorf("%s: the request can't be written as JSON: %w", s.ID, err)
			}
			e.Body = bytes.TrimSpace(body)
			e.Header.Set("Content-Type", "application/json")
		}
	}
	return e, nil
}
