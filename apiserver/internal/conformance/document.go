package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// document is the OpenAPI document with compiled schemas.
type document struct {
	mux        *http.ServeMux
	operations map[string]api.Spec         // by pattern of mux
	responses  map[string]map[int]response // by operation id and status code
	unexpected response                    // of any other status code of an error
	// integerHeaders are the headers whose value is a whole number.
	integerHeaders []string
}

// response is a documented response. mediaType is empty without a body, and schema is nil unless the
// body is JSON.
type response struct {
	headers   []string
	mediaType string
	schema    *jsonschema.Schema
}

type object = map[string]any

const documentURL = "openapi.json"

var theDocument = sync.OnceValue(func() *document {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(httpapi.Document(true)))
	if err != nil {
		panic(err)
	}
	root := parsed.(object)
	components := root["components"].(object)
	tighten(components["schemas"].(object))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, format := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			s, ok := v.(string)
			if ok && !format.form.MatchString(s) {
				return errors.New("it has another form")
			}
			if ok && name == dateTime {
				_, err := time.Parse(api.TimestampLayout, s) // a day of the calendar
				return err
			}
			return nil
		}})
	}
	if err := compiler.AddResource(documentURL, parsed); err != nil {
		panic(err)
	}
	d := &document{mux: http.NewServeMux(), operations: map[string]api.Spec{}, responses: map[string]map[int]response{}}
	for name, header := range components["headers"].(object) {
		if header.(object)["schema"].(object)["type"] == "integer" {
			d.integerHeaders = append(d.integerHeaders, name)
		}
	}
	slices.Sort(d.integerHeaders)
	d.unexpected = newResponse(compiler, root, "components", "responses", "UnexpectedError")
	for _, s := range api.Specs() {
		pattern := s.Method + " " + s.Path
		d.mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
		d.operations[pattern], d.responses[s.ID] = s, map[int]response{}
		place := []string{"paths", s.Path, strings.ToLower(s.Method), "responses"}
		for status := range at(root, place...) {
			if code, err := strconv.Atoi(status); err == nil { // the other one is default
				d.responses[s.ID][code] = newResponse(compiler, root, append(slices.Clip(place), status)...)
			}
		}
	}
	return d
})

const dateTime = "date-time"

// formats are the forms of strings in the contract.
var formats = map[string]struct {
	form    *regexp.Regexp
	meaning string
}{
	dateTime: {regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`), "a time in UTC with microseconds, 0000-00-00T00:00:00.000000Z"},
	"uuid":   {regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "a UUID in lower case"},
	"email":  {regexp.MustCompile(`^[^\s@]+@[^\s@]+$`), "an email address"},
}

// inLowerCase lists the members that the document describes as ASCII in lower case, by schema.
var inLowerCase = map[string][]string{"Mailbox": {"domain_name", "local_part", "primary_email"}, "Domain": {"name"}}

// lowerCase is the pattern of inLowerCase, the only one in a response.
const lowerCase = `^[^A-Z\x{80}-\x{10FFFF}]*$`

// tighten adds to schemas what the document states in words: an object has no other members, and an
// error has problems with a place. A member whose name ends in email is an address.
func tighten(schemas object) {
	for schema, members := range inLowerCase {
		for _, member := range members {
			at(schemas, schema, "properties", member)["pattern"] = lowerCase
		}
	}
	for _, schema := range schemas {
		members, ok := schema.(object)["properties"].(object)
		if !ok {
			continue
		}
		schema.(object)["additionalProperties"] = false
		for name, member := range members {
			if strings.HasSuffix(name, "email") {
				member.(object)["format"] = "email"
			}
		}
	}
	at(schemas, "Error", "properties", "detail")["minItems"] = 1
	loc := at(schemas, "Problem", "properties", "loc")
	loc["minItems"], loc["prefixItems"] = 1, []any{object{"enum": []any{"path", "query", "header", "body"}}}
}

// at returns the object at a place, or nil.
func at(o object, place ...string) object {
	for _, step := range place {
		o, _ = o[step].(object)
	}
	return o
}

// newResponse returns the response at a place of the document.
func newResponse(compiler *jsonschema.Compiler, root object, place ...string) (r response) {
	documented := at(root, place...)
	if ref, shared := documented["$ref"].(string); shared {
		return newResponse(compiler, root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	for name := range at(documented, "headers") {
		r.headers = append(r.headers, name)
	}
	for mediaType := range at(documented, "content") {
		r.mediaType = mediaType
		if mediaType == "application/json" {
			escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
			pointer := []string{documentURL + "#"}
			for _, step := range append(slices.Clip(place), "content", mediaType, "schema") {
				pointer = append(pointer, escape.Replace(step))
			}
			r.schema = compiler.MustCompile(strings.Join(pointer, "/"))
		}
	}
	if r.mediaType != "" && len(at(documented, "content")) != 1 {
		panic(fmt.Sprintf("conformance: a response of %s has several media types", strings.Join(place, "/")))
	}
	return r
}
