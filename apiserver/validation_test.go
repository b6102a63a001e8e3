package apiserver_test

import (
	"encoding/json"
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
)

// validBodies maps operations to valid request bodies, in an account with the domain example.com.
var validBodies = map[string]string{
	"create-service-account": `{"name":"ci","expires_at":"2027-01-01T00:00:00Z"}`,
	"grant-authorization":    `{"grant_kind":"capability","subject_type":"user","subject_id":"u","capability_key":"mailbox.view","resource_type":"domain","resource_id":"` + nobody + `"}`,
	"create-master-password": `{"name":"n","value":"abcd","generate":false}`,
	"rename-master-password": `{"name":"n"}`,
	"create-forwarding":      `{"target_email":"jane@example.net"}`,
	"update-forwarding":      `{"target_email":"jane@example.net"}`,
	"set-forwarding-active":  `{"active":true}`,
	"create-mailbox":         `{"domain":"example.com","first_name":"f","last_name":"l","local_part":"p"}`,
	"update-mailbox":         `{"first_name":"f","last_name":"l"}`,
	"create-mailboxes":       `{"domain":"example.com","items":[{"first_name":"f","last_name":"l","local_part":"p"}]}`,
	"export-mailboxes":       `{"mailboxes":["jane@example.com"]}`,
	"purchase-domains": `{"domains":["example.com"],"workspace_id":"` + api.DefaultWorkspaceID(accountID) + `","contact_info":{"address_1":"a","city":"c","country":"DE","email":"jane@example.net",
		"first_name":"f","last_name":"l","organization":"o","phone":"+4930123456","state":"s","zip":"z"}}`,
	"update-domain":      `{"auto_renew":true,"redirect_url":"https://example.net/"}`,
	"create-dns-record":  `{"domain":"example.com","name":"@","type":"MX","value":"mx.example.net","prio":10,"ttl":60}`,
	"update-dns-record":  `{"value":"mx.example.net","prio":10,"ttl":60}`,
	"claim-dedicated-ip": `{"option_id":"` + nobody + `"}`,
	"cancel-plan":        `{"cancel_at_period_end":true,"cancel_immediately":false}`,
	"change-plan":        `{"effective_date":"2027-01-01T00:00:00Z","plan_id":"smtp_per_proxy"}`,
	"submit-feedback":    `{"title":"t","description":"d","attributes":{},"category":"other","paid_product_feature":false}`,
	"create-workspace":   `{"name":"n"}`,
}

// pathValues maps path parameters to valid values.
var pathValues = map[string]string{"account_id": accountID, "mailbox": "jane@example.com", "domain": "example.com", "dns_record_id": "1"}

// request is a request to one operation. broken replaces values in it.
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
		value, ok := pathValues[f.name()]
		if !ok {
			value = nobody
		}
		r.path[f.name()] = value
	}
	if _, ok := spec.Request.FieldByName("Body"); ok {
		assert.NilError(t, json.Unmarshal([]byte(validBodies[spec.ID]), &r.body), "the body of %s in validBodies", spec.ID)
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
	record := apitest.Samples["dns_record_id"](h.Client, "example.com")
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
