package httpapi

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
)

// input describes the requests of an operation.
type input struct {
	schemas    huma.Registry
	parameters []parameter
	body       *huma.Schema // nil: the operation takes no body
}

// parameter is a field of a request that is in the path, the query or a header.
type parameter struct {
	reflect.StructField
	in, name string
	schema   *huma.Schema
}

func inputOf(request reflect.Type, schemas huma.Registry) input {
	i := input{schemas: schemas}
	for _, f := range reflect.VisibleFields(request) {
		for _, in := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(in); name != "" {
				i.parameters = append(i.parameters, parameter{f, in, name, huma.SchemaFromField(schemas, f, "")})
			}
		}
		if f.Name == "Body" {
			i.body = huma.SchemaFromField(schemas, f, "")
		}
	}
	return i
}

// read returns a pointer to a valid request in canonical form, or an *api.Error.
func (o *operation) read(r *http.Request, body []byte) (any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, api.Unprocessable(api.Invalid("the query can't be decoded; write %% as %%25 and ; as %%3B").At("query"))
	}
	request := reflect.New(o.Request)
	v := validator{schemas: o.input().schemas, strict: o.Strict}
	o.readParameters(&v, request.Elem(), r, query)
	var sent any
	if o.input().body != nil {
		sent = o.readBody(&v, request.Elem().FieldByName("Body"), body)
	}
	canonicalIDs(request.Elem())
	return request.Interface(), o.invalid(r, request.Interface(), sent, v.found)
}

// readParameters sets the fields that are not in the body. An empty text is an absent one.
func (o *operation) readParameters(v *validator, request reflect.Value, r *http.Request, query url.Values) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if known := func(p parameter) bool { return p.in == "query" && p.name == name }; o.Strict && !slices.ContainsFunc(o.input().parameters, known) {
			v.loc = []string{"query", name}
			v.unknown()
		}
	}
	for _, p := range o.input().parameters {
		var sent string
		empty := false // and sent, although it is a number or a boolean
		switch p.in {
		case "path":
			sent = r.PathValue(p.name)
		case "query":
			sent = query.Get(p.name)
			empty = query.Has(p.name) && p.Type.Kind() != reflect.String
		case "header":
			sent = r.Header.Get(p.name)
		}
		if sent == "" && !empty {
			if sent = p.Tag.Get("default"); sent == "" {
				continue
			}
		}
		v.loc = []string{p.in, p.name}
		switch value, ok := parse(request.FieldByIndex(p.Index), sent); {
		case ok:
			v.check(p.schema, value)
		case p.Type.Kind() == reflect.Bool:
			v.report(api.TypeBool, "Input should be a valid boolean")
		default:
			v.report(api.TypeInt, "Input should be a valid integer, unable to parse string as an integer")
		}
	}
}

func notJSON() *api.Problem {
	return (&api.Problem{Msg: "JSON decode error", Type: api.TypeJSONInvalid}).InBody()
}

// readBody sets the body of a request as far as it is valid, and returns it as it was sent.
func (o *operation) readBody(v *validator, field reflect.Value, data []byte) any {
	if len(data) == 0 {
		v.found = append(v.found, api.Missing().InBody())
		return nil
	}
	sent, err := decodeJSON(data)
	if err != nil {
		v.found = append(v.found, notJSON())
		return nil
	}
	v.loc = []string{"body"}
	v.check(o.input().body, sent)
	assign(field, sent)
	return sent
}

// invalid returns the 422 for a request that breaks its schema or a rule beyond it, or nil. The
// 422 also names the unknown objects to which the body refers.
func (o *operation) invalid(r *http.Request, request, sent any, broken []*api.Problem) error {
	rules := brokenRules(request, progressOf(r.Context()).arrival)
	if len(broken)+len(rules) == 0 {
		return nil
	}
	var unknown []*api.Problem
	if body, ok := sent.(map[string]any); ok && api.IsID(r.PathValue("account_id")) {
		unknown, _ = account.ReferenceErrors(o.newCall(r.Context(), o.Spec, nil), body) // the 422 stands without them
	}
	return api.Unprocessable(inOrder(slices.Concat(broken, rules, unknown))...)
}

// brokenRules returns the problems of a request that its schema can't describe.
func brokenRules(request any, arrival time.Time) (found []*api.Problem) {
	field := reflect.ValueOf(request).Elem().FieldByName("Body")
	if !field.IsValid() {
		return nil
	}
	body := field.Addr().Interface()
	if b, ok := body.(interface{ Validate() []*api.Problem }); ok {
		found = b.Validate()
	}
	if b, ok := body.(interface {
		Timely(time.Time) *api.Problem
	}); ok && keyOf(request) == "" {
		if p := b.Timely(arrival); p != nil {
			found = append(found, p)
		}
	}
	return found
}

// inOrder returns the problems by the part of the request, the first one for each place.
func inOrder(problems []*api.Problem) []*api.Problem {
	seen := map[string]bool{}
	problems = slices.DeleteFunc(slices.Clone(problems), func(p *api.Problem) bool {
		place := strings.Join(p.Loc, "\x00")
		again := seen[place] || seen["body"] && p.Loc[0] == "body"
		seen[place] = true
		return again
	})
	parts := []string{"path", "query", "header", "body"}
	slices.SortStableFunc(problems, func(a, b *api.Problem) int {
		return slices.Index(parts, a.Loc[0]) - slices.Index(parts, b.Loc[0])
	})
	return problems
}

// canonicalIDs rewrites every field of format uuid to its canonical form.
func canonicalIDs(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		switch {
		case f.Kind() == reflect.Struct && t.Field(i).IsExported():
			canonicalIDs(f)
		case f.Kind() == reflect.String && t.Field(i).Tag.Get("format") == "uuid":
			f.SetString(api.CanonicalID(f.String()))
		}
	}
}
