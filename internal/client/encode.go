package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// encoded is a request as it goes over the wire, apart from what each attempt
// adds.
type encoded struct {
	url    string
	header http.Header
	// body is nil where the operation has none.
	body []byte
	// object is the value of the path's last parameter: what the operation is
	// about, unless its method knows a better name.
	object string
}

// encode reads a request struct by the tags that the contract gives it. req is
// a pointer to the struct.
func encode(base string, s api.Spec, req any) (*encoded, error) {
	e := &encoded{header: http.Header{}}
	path, query := s.Path, url.Values{}
	v := reflect.ValueOf(req).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		if name, ok := f.Tag.Lookup("path"); ok {
			segment := text(value)
			if value.IsZero() || segment == "." || segment == ".." {
				return nil, fmt.Errorf("%s: %q is no %s", s.ID, segment, name)
			}
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(segment), 1)
			e.object = segment
		} else if name, ok := f.Tag.Lookup("query"); ok && !value.IsZero() {
			query.Set(name, text(value))
		} else if name, ok := f.Tag.Lookup("header"); ok && !value.IsZero() {
			e.header.Set(name, text(value))
		} else if f.Name == "Body" {
			var err error
			if e.body, err = json.Marshal(value.Interface()); err != nil {
				return nil, fmt.Errorf("%s: the request can't be written as JSON: %w", s.ID, err)
			}
			e.header.Set("Content-Type", "application/json")
		}
	}
	e.url = base + path
	if len(query) > 0 {
		e.url += "?" + query.Encode()
	}
	return e, nil
}

// text writes a parameter.
func text(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	}
	panic("client: a parameter of kind " + v.Kind().String())
}

// setField sets a string field that the contract's embedded structs promote.
func setField(req any, name, value string) {
	reflect.ValueOf(req).Elem().FieldByName(name).SetString(value)
}
