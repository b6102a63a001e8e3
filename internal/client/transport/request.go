package transport

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

// request is an encoded request, without the headers that each attempt adds.
type request struct {
	url    *url.URL
	header http.Header
	body   []byte // nil if the operation has none
	// object is the value of the path's last parameter, which names what the
	// request is about.
	object string
}

// encode builds a request from a request struct of the contract, by its tags. req
// is a pointer to the struct.
func encode(base string, s api.Spec, req any) (*request, error) {
	e := &request{header: http.Header{}}
	path, query := s.Path, url.Values{}
	v := reflect.ValueOf(req).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		value := v.FieldByIndex(f.Index)
		if name, ok := f.Tag.Lookup("path"); ok {
			segment := parameter(value)
			if value.IsZero() || segment == "." || segment == ".." {
				return nil, fmt.Errorf("%s: %q is no %s", s.ID, segment, name)
			}
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(segment), 1)
			e.object = segment
		} else if name, ok := f.Tag.Lookup("query"); ok && !value.IsZero() {
			query.Set(name, parameter(value))
		} else if name, ok := f.Tag.Lookup("header"); ok && !value.IsZero() {
			e.header.Set(name, parameter(value))
		} else if f.Name == "Body" {
			var err error
			if e.body, err = json.Marshal(value.Interface()); err != nil {
				return nil, fmt.Errorf("%s: the request can't be written as JSON: %w", s.ID, err)
			}
			e.header.Set("Content-Type", "application/json")
		}
	}
	var err error
	if e.url, err = url.Parse(base + path); err != nil {
		return nil, fmt.Errorf("%s: the request's URL is malformed", s.ID)
	}
	e.url.RawQuery = query.Encode()
	return e, nil
}

// parameter returns the text of a path, query or header parameter.
func parameter(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	}
	panic("transport: a parameter of kind " + v.Kind().String())
}

// setField sets a string field that the contract's embedded structs promote.
func setField(req any, name, value string) {
	reflect.ValueOf(req).Elem().FieldByName(name).SetString(value)
}

// namesObject reports whether the operation's path names an object besides the
// account.
func namesObject(s api.Spec) bool { return strings.Count(s.Path, "{") > 1 }

func isCSV(s api.Spec) bool { return s.Response == reflect.TypeFor[api.CSV]() }

// listsAll reports whether the request is for a list that every API has, without a
// filter. If that fails with 404, the API or the account does not exist.
func (e *request) listsAll(s api.Spec) bool {
	if s.Method != http.MethodGet || s.Lifecycle() || namesObject(s) {
		return false
	}
	query := e.url.Query()
	query.Del("page")
	query.Del("page_size")
	return len(query) == 0
}
