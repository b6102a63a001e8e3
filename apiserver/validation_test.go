package apiserver_test

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
)

// request is a request to one operation. broken changes it in places.
type request struct {
	spec  api.Spec
	path  map[string]string
	query url.Values
	body  any
}

func newRequest(t *testing.T, spec api.Spec) *request {
	t.Helper()
	r := &request{spec: spec, path: map[string]string{}, query: url.Values{}}
	for _, f := range params(spec.Request, "path") {
		r.path[f.name()] = nobody
		if f.name() == "account_id" {
			r.path[f.name()] = accountID
		} else if k := sample.Named(f.name()); k != nil && k.Path != "" {
			r.path[f.name()] = k.Path
		}
	}
	if _, ok := spec.Request.FieldByName("Body"); ok {
		r.body = sample.Body(spec)
	}
	return r
}

func (r *request) send(c *apitest.Client, headers ...string) *apitest.Response {
	c.T.Helper()
	path := r.spec.Path
	for name, value := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.query) > 0 {
		path += "?" + r.query.Encode()
	}
	return c.Do(r.spec.Method, path, r.body, headers...)
}

// broken returns a copy of r with another value at a place.
func (r *request) broken(loc []string, value any) *request {
	b := *r
	switch loc[0] {
	case "path":
		b.path = maps.Clone(r.path)
		b.path[loc[1]] = value.(string)
	case "query":
		b.query = maps.Clone(r.query)
		b.query.Set(loc[1], value.(string))
	default:
		b.body = replaced(r.body, loc[1:], value)
	}
	return &b
}

type absent struct{}

// replaced returns a copy of a JSON value with another value at a place.
func replaced(v any, loc []string, value any) any {
	if len(loc) == 0 {
		return value
	}
	switch in := v.(type) {
	case []any:
		i, _ := strconv.Atoi(loc[0])
		out := slices.Clone(in)
		out[i] = replaced(in[i], loc[1:], value)
		return out
	default:
		out := maps.Clone(in.(map[string]any))
		if out[loc[0]] = replaced(out[loc[0]], loc[1:], value); out[loc[0]] == any(absent{}) {
			delete(out, loc[0])
		}
		return out
	}
}

// input is a parameter or a field of the body, with its type and its tags.
type input struct {
	loc                         []string
	typ                         reflect.Type
	tag                         reflect.StructTag
	required, nullable, element bool
}

func (f input) name() string { return f.loc[len(f.loc)-1] }

// params returns the parameters of a request in path, query or header.
func params(request reflect.Type, place string) (found []input) {
	for _, f := range reflect.VisibleFields(request) {
		if name := f.Tag.Get(place); name != "" {
			found = append(found, input{loc: []string{place, name}, typ: f.Type, tag: f.Tag})
		}
	}
	return found
}

// inputsOf returns the parameters in path and query and the fields of the body.
func inputsOf(spec api.Spec) []input {
	inputs := append(params(spec.Request, "path"), params(spec.Request, "query")...)
	if body, ok := spec.Request.FieldByName("Body"); ok {
		inputs = append(inputs, bodyFields(body.Type, []string{"body"})...)
	}
	return inputs
}

// bodyFields returns the fields of a body, including the fields and elements of nested objects and
// lists.
func bodyFields(t reflect.Type, loc []string) (found []input) {
	for f := range fields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		in := input{loc: append(slices.Clone(loc), name), typ: f.Type, tag: f.Tag, required: options == "", nullable: f.Tag.Get("nullable") == "true"}
		if in.typ == reflect.TypeFor[api.Nullable[string]]() {
			in.typ, in.nullable = reflect.TypeFor[string](), true
		}
		if in.typ.Kind() == reflect.Pointer {
			in.typ = in.typ.Elem()
		}
		found = append(found, in)
		switch in.kind() {
		case "list":
			element := append(slices.Clone(in.loc), "0")
			found = append(found, input{loc: element, typ: in.typ.Elem(), element: true})
			if in.typ.Elem().Kind() == reflect.Struct {
				found = append(found, bodyFields(in.typ.Elem(), element)...)
			}
		case "dict":
			if in.typ.Kind() == reflect.Struct {
				found = append(found, bodyFields(in.typ, in.loc)...)
			}
		}
	}
	return found
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return slices.Values(reflect.VisibleFields(t))
}

// kind returns the JSON type of an input.
func (f input) kind() string {
	switch f.typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Bool:
		return "bool"
	case reflect.Slice:
		if f.typ == reflect.TypeFor[api.FreeForm]() {
			return "dict"
		}
		return "list"
	}
	return "dict"
}

// TestValidation checks that each value that violates an input's type or limits is reported, and
// that values at the limits are accepted.
func TestValidation(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	record := h.Sample("dns_record_id", "example.com")
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			c := h.In(t)
			r := newRequest(t, spec)
			if spec.ID == api.UpdateDNSRecord.ID { // the type of its record decides which values are valid
				r.path["dns_record_id"] = record
			}
			for _, in := range inputsOf(spec) {
				assert.Check(t, in.loc[0] != "body" || in.required || in.element || in.nullable, "%v may be null, which the document does not say", in.loc)
				for _, b := range in.breakages() {
					a := r.broken(in.loc, b.value).send(c)
					if a.Refused(422, strings.Join(in.loc, ".")+" "+b.typ); a.Str("detail.0.msg") != b.msg {
						t.Errorf("%v at %v: %q; want %q", b.value, in.loc, a.Str("detail.0.msg"), b.msg)
					}
				}
				for _, value := range in.accepted() {
					a := r.broken(in.loc, value).send(c)
					if a.Status == 422 && slices.ContainsFunc(a.Problems(), func(p string) bool { return strings.HasPrefix(p, strings.Join(in.loc, ".")+" ") }) {
						t.Errorf("%v at %v is rejected: %s", value, in.loc, a)
					}
				}
				if in.kind() != "string" || slices.Contains(in.loc, "0") { // an invalid item does not fail the request
					continue
				}
				a := r.broken(in.loc, "a\x00b").send(c)
				if in.loc[0] != "body" {
					assert.Check(t, a.Status < 500, "NUL at %v: %s", in.loc, a)
					continue
				}
				if a.Status != 422 || !slices.ContainsFunc(a.Problems(), func(p string) bool { return strings.HasPrefix(p, strings.Join(in.loc, ".")+" ") }) {
					t.Errorf("NUL at %v, which PostgreSQL does not store: %s; give the field a format or a pattern", in.loc, a)
				}
				if a := r.broken(in.loc, "").send(c); in.nullable && a.Status != 422 {
					t.Errorf(`"" at %v, which is stored as no value: %s; give the field a minLength or a format`, in.loc, a)
				}
			}
		})
	}
}
