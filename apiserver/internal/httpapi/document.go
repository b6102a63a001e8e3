package httpapi

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const securityScheme = "bearer"

//go:embed examples.json
var exampleCalls []byte

// Document returns the OpenAPI 3.1 document. Without lifecycle it contains only the published
// operations.
func Document(lifecycle bool) []byte {
	specs := slices.DeleteFunc(api.Specs(), func(s api.Spec) bool { return s.Lifecycle() && !lifecycle })
	doc := newDocument(specs)
	addExamples(doc)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("httpapi: " + err.Error()) // the types of the API are wrong
	}
	return append(text, '\n')
}

// newSchemas returns an empty registry, which derives schemas from the types and tags of the API.
func newSchemas() huma.Registry {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[api.FreeForm](), reflect.TypeFor[freeForm]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Nullable[string]](), reflect.TypeFor[nullable[string]]())
	return schemas
}

// newDocument returns the document of the given operations.
func newDocument(specs []api.Spec) *huma.OpenAPI {
	schemas := newSchemas()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Account Management Public API",
			Version:     "1",
			Description: description(),
			Contact:     &huma.Contact{Name: "mailhost", URL: "https://github.com/mailhost/terraform-provider-mailhost"},
			License:     &huma.License{Name: "Mozilla Public License 2.0", Identifier: "MPL-2.0"},
		},
		// The server's own pages, such as /docs, send requests to the first server.
		Servers: []*huma.Server{{URL: "/", Description: "the server that returns this document"}, {
			URL: "{base_url}", Description: "mailhostd, or the account's mail host: the URL before /v1, without a slash at its end",
			Variables: map[string]*huma.ServerVariable{"base_url": {Default: "http://127.0.0.1:8080"}},
		}},
		Tags: tagsOf(specs),
		Components: &huma.Components{
			Schemas:   schemas,
			Headers:   responseHeaders(),
			Responses: errorResponses(schemas),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				securityScheme: {Type: "http", Scheme: "bearer", Description: "A service account token, or an OAuth access token"},
			},
		},
	}
	for _, spec := range specs {
		doc.AddOperation(describe(spec, schemas))
	}
	addLinks(doc, specs)
	for _, schema := range schemas.Map() {
		complete(schema)
	}
	schemas.Map()["Problem"].Properties["type"].Enum = problemTypes()
	return doc
}

// addExamples adds a recorded call to each operation. A test repeats and compares the calls.
func addExamples(doc *huma.OpenAPI) {
	var calls map[string]struct {
		Parameters        map[string]string
		Request, Response json.RawMessage
	}
	_ = json.Unmarshal(exampleCalls, &calls) // a test writes and compares the file
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Patch, path.Delete} {
			if op == nil {
				continue
			}
			call := calls[op.OperationID]
			for _, p := range op.Parameters {
				if value, ok := call.Parameters[p.Name]; ok {
					p.Example = exampleOf(p.Schema, value)
				}
			}
			if op.RequestBody != nil {
				setExample(op.RequestBody.Content, call.Request)
			}
			for status, response := range op.Responses {
				if status < "400" {
					setExample(response.Content, call.Response)
				}
			}
		}
	}
}

func setExample(content map[string]*huma.MediaType, example json.RawMessage) {
	for _, media := range content {
		media.Example = example
	}
}

// exampleOf converts a parameter's value to the type of its schema.
func exampleOf(s *huma.Schema, value string) any {
	if n, err := strconv.Atoi(value); err == nil && s.Type == huma.TypeInteger {
		return n
	}
	return value
}

func describe(s api.Spec, schemas huma.Registry) *huma.Operation {
	op := &huma.Operation{
		OperationID: s.ID, Method: s.Method, Path: s.Path, Summary: s.Summary, Tags: []string{s.Kind.Tag},
		Description: "Needs a credential of the account, and no capability.",
		Security:    []map[string][]string{{securityScheme: {}}}, Extensions: map[string]any{},
		Responses: map[string]*huma.Response{
			strconv.Itoa(s.Status): describeResponse(s, schemas), "default": {Ref: refTo("responses", "UnexpectedError")},
		},
	}
	if s.Capability != "" {
		op.Description = "Needs the capability `" + string(s.Capability) + "`."
		op.Extensions["x-capability"] = string(s.Capability)
	}
	if s.Lifecycle() {
		op.Extensions["x-lifecycle-extension"] = true
	}
	for _, f := range api.FieldsOf(s.Request) {
		schema := huma.SchemaFromField(schemas, s.Request.FieldByIndex(f.Index), "")
		if f.In == "body" {
			op.RequestBody = &huma.RequestBody{Required: true, Content: content("application/json", schema)}
			continue
		}
		param := &huma.Param{Name: f.Name, Description: schema.Description, In: f.In, Required: f.In == "path", Schema: schema}
		if f.In == "query" {
			param.Explode = new(bool)
		}
		op.Parameters = append(op.Parameters, param)
	}
	failures := []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if strings.Count(s.Path, "{") > 1 {
		failures = append(failures, http.StatusNotFound)
	}
	if s.Method != http.MethodGet {
		failures = append(failures, http.StatusConflict)
	}
	if op.RequestBody != nil {
		failures = append(failures, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	for _, status := range failures {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: refTo("responses", errorName(status))}
	}
	return op
}

func content(mediaType string, s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{mediaType: {Schema: s}}
}

// nullable is the schema of api.Nullable.
type nullable[T any] struct{}

// Schema implements huma.SchemaProvider. It returns T's schema, nullable.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	s.Nullable = true
	return &s
}

// freeForm is the schema of api.FreeForm.
type freeForm struct{}

// Schema implements huma.SchemaProvider.
func (freeForm) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// complete sets the properties without a tag: additional members are ignored, a name gets a pattern
// and an explanation, and a nullable enumeration contains null.
func complete(object *huma.Schema) {
	object.AdditionalProperties = nil
	for _, p := range object.Properties {
		if p.Format == api.FormatName {
			p.Format, p.Pattern = "", api.NamePattern
			p.Description = strings.TrimPrefix(p.Description+". "+api.NameRule, ". ")
		}
		if p.Nullable && len(p.Enum) > 0 {
			p.Enum = append(p.Enum, nil)
		}
	}
}
