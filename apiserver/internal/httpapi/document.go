package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const securityScheme = "bearer"

//go:embed examples.json
var exampleCalls []byte

// Document returns the OpenAPI 3.1 document of the contract, as indented JSON.
// Without lifecycle it describes the published operations alone.
func Document(lifecycle bool) ([]byte, error) {
	specs := slices.DeleteFunc(api.Specs(), func(s api.Spec) bool { return s.Lifecycle() && !lifecycle })
	doc := newDocument(specs)
	if err := addExamples(doc); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(escapeInvisible(text), '\n'), nil
}

// newSchemas returns an empty registry of schemas, which come from the contract's types
// and their tags.
func newSchemas() huma.Registry {
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[api.FreeForm](), reflect.TypeFor[freeForm]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Nullable[string]](), reflect.TypeFor[nullable[string]]())
	return schemas
}

// newInput returns the input of one operation.
func newInput(s api.Spec) input {
	schemas := newSchemas()
	in := inputOf(s.Request, schemas)
	setUpdateLimits(schemas, s.Request)
	for _, schema := range schemas.Map() {
		complete(schema)
	}
	return in
}

// newDocument returns the document of some operations.
func newDocument(specs []api.Spec) *huma.OpenAPI {
	schemas := newSchemas()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Account Management Public API",
			Version:     "1",
			Description: description(),
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				securityScheme: {Type: "http", Scheme: "bearer", Description: "A service account token, or an OAuth access token"},
			},
		},
	}
	for _, spec := range specs {
		doc.AddOperation(describe(spec, inputOf(spec.Request, schemas)))
		setUpdateLimits(schemas, spec.Request)
	}
	for _, schema := range schemas.Map() {
		complete(schema)
	}
	return doc
}

// addExamples adds one call to each operation: recorded calls of a service, which a test
// makes again and compares.
func addExamples(doc *huma.OpenAPI) error {
	var calls map[string]struct {
		Parameters        map[string]string
		Request, Response json.RawMessage
	}
	if err := json.Unmarshal(exampleCalls, &calls); err != nil {
		return err
	}
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
	return nil
}

func setExample(content map[string]*huma.MediaType, example json.RawMessage) {
	for _, media := range content {
		media.Example = example
	}
}

// exampleOf returns the value of a parameter in the type of its schema.
func exampleOf(s *huma.Schema, value string) any {
	if n, err := strconv.Atoi(value); err == nil && s.Type == huma.TypeInteger {
		return n
	}
	return value
}

// describe returns an operation's entry in the document.
func describe(s api.Spec, in input) *huma.Operation {
	op := &huma.Operation{
		OperationID: s.ID, Method: s.Method, Path: s.Path, Summary: s.Summary, Tags: []string{s.Tag},
		Security: []map[string][]string{{securityScheme: {}}}, Extensions: map[string]any{},
		Responses: map[string]*huma.Response{strconv.Itoa(s.Status): describeResponse(s, in.schemas)},
	}
	if s.Capability != "" {
		op.Description = "Needs the capability `" + string(s.Capability) + "`."
		op.Extensions["x-capability"] = string(s.Capability)
	}
	if s.Lifecycle() {
		op.Extensions["x-lifecycle-extension"] = true
	}
	for _, p := range in.parameters {
		param := &huma.Param{Name: p.name, Description: p.schema.Description, In: p.in, Required: p.in == "path", Schema: p.schema}
		if p.in == "query" {
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
	if in.body != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: content("application/json", in.body)}
		failures = append(failures, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	for _, status := range failures {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     content("application/json", in.schemas.Schema(reflect.TypeFor[api.Error](), true, "")),
		}
	}
	return op
}

func describeResponse(s api.Spec, schemas huma.Registry) *huma.Response {
	text := &huma.Schema{Type: huma.TypeString}
	headers := func(names ...string) map[string]*huma.Header {
		all := map[string]*huma.Header{}
		for _, name := range names {
			all[name] = &huma.Header{Schema: text}
		}
		return all
	}
	switch s.Response {
	case reflect.TypeFor[api.NoContent]():
		return &huma.Response{Description: http.StatusText(s.Status)}
	case reflect.TypeFor[api.CSV]():
		return &huma.Response{
			Description: "CSV with a header line", Headers: headers("Content-Type", "Content-Disposition"), Content: content("text/csv", text),
		}
	}
	return &huma.Response{
		Description: http.StatusText(s.Status), Headers: headers(api.IdempotencyReplayedHeader),
		Content: content("application/json", schemas.Schema(s.Response, true, "")),
	}
}

func content(mediaType string, s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{mediaType: {Schema: s}}
}

// nullable is the schema of api.Nullable.
type nullable[T any] struct{}

// Schema implements huma.SchemaProvider: T's schema, nullable.
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

// setUpdateLimits gives the fields of a PATCH body the limits that the body of the
// object's creation sets for the fields of the same name, so that each limit is written
// once.
func setUpdateLimits(schemas huma.Registry, request reflect.Type) {
	body, ok := request.FieldByName("Body")
	if !ok {
		return
	}
	update, ok := reflect.TypeAssert[interface{ LimitsFrom() any }](reflect.Zero(body.Type))
	if !ok {
		return
	}
	created := schemas.Schema(reflect.TypeOf(update.LimitsFrom()), false, "")
	for name, field := range schemas.Map()[body.Type.Name()].Properties {
		if as := created.Properties[name]; as != nil {
			field.MinLength, field.MaxLength, field.Minimum, field.Maximum = as.MinLength, as.MaxLength, as.Minimum, as.Maximum
			field.Pattern = as.Pattern
			if as.Format == api.FormatName {
				field.Format = as.Format
			}
		}
	}
}

// complete sets what tags can't say in the schema of an object: unknown fields are
// ignored, a name has a pattern that is too long for a tag, and null is one of the values
// of a nullable enumeration.
func complete(object *huma.Schema) {
	object.AdditionalProperties = true
	for name, p := range object.Properties {
		if p.Format == api.FormatName {
			p.Format, p.Pattern = "", api.NamePattern
		}
		if p.Nullable && len(p.Enum) > 0 {
			p.Enum = append(p.Enum, nil)
		}
		if p.Pattern != "" && p.Pattern != api.NamePattern && p.Pattern != api.TextPattern {
			panic("httpapi: the validator does not know the pattern of " + name)
		}
	}
}

// escapeInvisible writes the characters of patterns that nobody can see as JSON
// escapes.
func escapeInvisible(doc []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(doc) {
		switch {
		case r < utf8.RuneSelf || unicode.IsGraphic(r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
