package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// newRegistry returns the schemas of the contract's types. Those that huma can't derive
// from a type and its tags are in this file.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[api.FreeForm](), reflect.TypeFor[freeForm]())
	r.RegisterTypeAlias(reflect.TypeFor[api.Nullable[string]](), reflect.TypeFor[nullable[string]]())
	return r
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

// completeSchemas is a huma.AddOpFunc that sets what tags can't say in the schemas of an
// operation.
func completeSchemas(doc *huma.OpenAPI, op *huma.Operation) {
	setUpdateLimits(doc.Components.Schemas, op.Metadata[specKey].(api.Spec))
	setNamePatterns(doc)
}

// setNamePatterns sets the pattern of every name: a tag at each field could not hold a
// pattern of this length.
func setNamePatterns(doc *huma.OpenAPI) {
	for _, schema := range doc.Components.Schemas.Map() {
		for _, p := range schema.Properties {
			if p.Format == api.FormatName {
				p.Format, p.Pattern = "", api.NamePattern
				p.PrecomputeMessages()
			}
		}
	}
}

// setUpdateLimits gives the fields of a PATCH body the limits that the body of the
// object's creation sets for the fields of the same name, so that each limit is written
// once.
func setUpdateLimits(r huma.Registry, spec api.Spec) {
	body, ok := spec.Request.FieldByName("Body")
	if !ok {
		return
	}
	update, ok := reflect.TypeAssert[interface{ LimitsFrom() any }](reflect.Zero(body.Type))
	if !ok {
		return
	}
	created := r.Schema(reflect.TypeOf(update.LimitsFrom()), false, "")
	for name, field := range r.Map()[body.Type.Name()].Properties {
		if as := created.Properties[name]; as != nil {
			field.MinLength, field.MaxLength, field.Minimum, field.Maximum = as.MinLength, as.MaxLength, as.Minimum, as.Maximum
			field.Pattern = as.Pattern
			if as.Format == api.FormatName {
				field.Format = as.Format
			}
			field.PrecomputeMessages()
		}
	}
}
