package httpapi

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
)

// read returns a pointer to a valid request in canonical form, or an *api.Error.
func (o *operation) read(r *http.Request, body []byte) (any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, api.Unprocessable(api.Invalid("the query can't be decoded; write %% as %%25 and ; as %%3B").At("query"))
	}
	request := reflect.New(o.Request)
	found := o.readParameters(request.Elem(), r, query)
	var sent any // the decoded body
	if f := o.Body(); f != nil {
		values, err := countValues(body)
		if memory := valueMemory * values; len(body) > freeBody {
			if !o.bodies.reserve(accountOf(r), memory) {
				return nil, tooManyRequests()
			}
			defer o.bodies.release(accountOf(r), memory)
		}
		if err == nil {
			sent, err = decodeJSON(body)
		}
		switch {
		case len(body) == 0:
			found = append(found, api.Missing().InBody())
		case err != nil:
			found = append(found, notJSON())
		default:
			found = append(found, f.Validate(sent, o.Strict)...)
			assign(request.Elem().FieldByIndex(f.Index), sent)
		}
	}
	canonicalIDs(request.Elem(), api.FieldsOf(o.Request))
	return request.Interface(), o.invalid(r, request.Interface(), sent, found)
}

// readParameters sets the fields outside of the body, and returns their problems. An empty text
// counts as absent.
func (o *operation) readParameters(request reflect.Value, r *http.Request, query url.Values) (found []*api.Problem) {
	fields := api.FieldsOf(o.Request)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if known := func(f *api.Field) bool { return f.In == "query" && f.Name == name }; o.Strict && !slices.ContainsFunc(fields, known) {
			found = append(found, api.Extra().At("query", name))
		}
	}
	for _, f := range fields {
		var sent string
		empty := false // sent without a value, although it is a number or a boolean
		switch f.In {
		case "path":
			sent = r.PathValue(f.Name)
		case "query":
			sent = query.Get(f.Name)
			empty = query.Has(f.Name) && f.Kind != reflect.String
		case "header":
			sent = r.Header.Get(f.Name)
		case "body":
			continue
		}
		if sent == "" && !empty {
			if sent = f.Default; sent == "" {
				continue
			}
		}
		found = append(found, f.Validate(parse(request.FieldByIndex(f.Index), sent), o.Strict)...)
	}
	return found
}

func notJSON() *api.Problem {
	return (&api.Problem{Msg: "JSON decode error", Type: api.TypeJSONInvalid}).InBody()
}

// invalid returns the 422 for a request that violates its schema or another rule, or nil. The 422
// also lists unknown objects in the body.
func (o *operation) invalid(r *http.Request, request, sent any, broken []*api.Problem) error {
	rules := brokenRules(request, progressOf(r.Context()).arrival)
	if len(broken)+len(rules) == 0 {
		return nil
	}
	var unknown []*api.Problem
	if body, ok := sent.(map[string]any); ok && api.IsID(r.PathValue("account_id")) {
		unknown, _ = account.ReferenceErrors(o.newCall(r.Context(), o.Spec, nil), body) // if it fails, the 422 lists the other problems
	}
	return api.Unprocessable(inOrder(slices.Concat(broken, rules, unknown))...)
}

// brokenRules returns the problems of a request that a schema can't express.
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

// inOrder sorts the problems by the part of the request. It keeps the first problem of each place.
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

// canonicalIDs converts every field with format uuid to its canonical form, except in lists.
func canonicalIDs(v reflect.Value, fields []*api.Field) {
	for _, f := range fields {
		switch value := reflect.Indirect(v.FieldByIndex(f.Index)); {
		case !value.IsValid(): // null
		case f.Format == api.FormatUUID && value.Kind() == reflect.String:
			value.SetString(api.CanonicalID(value.String()))
		default:
			canonicalIDs(value, f.Members)
		}
	}
}
