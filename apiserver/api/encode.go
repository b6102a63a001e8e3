package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// Encoded is a request to an operation, without the additions of a client.
type Encoded struct {
	// Path is escaped.
	Path   string
	Query  url.Values
	Header http.Header
	// Body is nil if the operation takes no body.
	Body []byte
}

// Encode encodes a request struct of the operation by its tags. in is a pointer to the struct.
func (s Spec) Encode(in any) (*Encoded, error) {
	e := &Encoded{Path: s.Path, Query: url.Values{}, Header: http.Header{}}
	v := reflect.ValueOf(in).Elem()
	for _, f := range FieldsOf(v.Type()) {
		value := v.FieldByIndex(f.Index)
		switch {
		case f.In == "path":
			text := fmt.Sprint(value)
			if value.IsZero() || text == "." || text == ".." {
				return nil, fmt.Errorf("%s: %q is no %s", s.ID, text, f.Name)
			}
			e.Path = strings.Replace(e.Path, "{"+f.Name+"}", url.PathEscape(text), 1)
		case f.In == "query" && !value.IsZero():
			e.Query.Set(f.Name, fmt.Sprint(value))
		case f.In == "header" && !value.IsZero():
			e.Header.Set(f.Name, fmt.Sprint(value))
		case f.In == "body":
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
