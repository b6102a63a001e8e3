package httpapi_test

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

const goldenDocument = "../../api/testdata/openapi.json"

func TestDocument(t *testing.T) {
	got := httpapi.Document(true)
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(goldenDocument, got, 0o644))
	}
	want, err := os.ReadFile(goldenDocument)
	assert.NilError(t, err)
	assert.Check(t, bytes.Equal(got, want), "the document differs from %s; if this is intended, run make golden", goldenDocument)
	assert.Check(t, bytes.Equal(got, httpapi.Document(true)), "two builds of the document differ")
}

// document loads the API's document with a library that the generator does not use.
// TestDocumentIsOpenAPI31 validates the examples.
func document(t *testing.T, withLifecycle bool) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(httpapi.Document(withLifecycle))
	assert.NilError(t, err)
	assert.NilError(t, doc.Validate(context.Background(), openapi3.DisableExamplesValidation()))
	return doc
}

func TestDocumentIsOpenAPI31(t *testing.T) {
	doc := document(t, true)
	assert.Check(t, doc.IsOpenAPI31OrLater(), "openapi is %q", doc.OpenAPI)
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		message := []rune(err.Error())
		t.Errorf("an example does not match its schema: run make golden, which records the examples again\n%s", string(message[:min(len(message), 500)]))
	}
}

// TestDocumentExplainsEveryErrorType checks that the table of errors lists each type that package
// api declares.
func TestDocumentExplainsEveryErrorType(t *testing.T) {
	source, err := os.ReadFile("../../api/error.go")
	assert.NilError(t, err)
	table := document(t, true).Info.Description
	types := regexp.MustCompile(`(?m)^\tType\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	assert.Assert(t, len(types) >= 30, "only %d types were found", len(types))
	for _, typ := range types {
		assert.Check(t, strings.Contains(table, "`"+typ[1]+"`"), "the table of errors lacks %s", typ[1])
	}
}

// TestDocumentOperations checks that each operation contains examples, and that the document of the
// published operations contains no other.
func TestDocumentOperations(t *testing.T) {
	for _, withLifecycle := range []bool{false, true} {
		documented := 0
		for path, item := range document(t, withLifecycle).Paths.Map() {
			for method, op := range item.Operations() {
				documented++
				checkExamples(t, method+" "+path, op)
			}
		}
		want := len(slices.DeleteFunc(api.Specs(), func(s api.Spec) bool { return s.Lifecycle() && !withLifecycle }))
		assert.Check(t, documented == want, "with lifecycle %t the document has %d operations; want %d", withLifecycle, documented, want)
	}
}

// checkExamples checks that an operation contains examples. TestDocumentIsOpenAPI31 validates them.
func checkExamples(t *testing.T, route string, op *openapi3.Operation) {
	t.Helper()
	assert.Check(t, op.RequestBody == nil || op.RequestBody.Value.Content.Get("application/json").Example != nil, "%s has no example of its body", route)
	for status, response := range op.Responses.Map() {
		for mediaType, content := range response.Value.Content {
			assert.Check(t, status >= "400" || content.Example != nil, "%s has no example of its response in %s", route, mediaType)
		}
	}
	for _, p := range op.Parameters {
		if p.Value.In == "path" && p.Value.Name != "account_id" && p.Value.Example == nil {
			t.Errorf("%s has no example of %s", route, p.Value.Name)
		}
	}
}

// TestSpecs checks properties of the operations that the document does not contain.
func TestSpecs(t *testing.T) {
	const published = 22
	for i, s := range api.Specs() {
		assert.Check(t, i < published == (s.Number == i+1), "the operation %s at %d has the number %d", s.ID, i, s.Number)
		// A request that creates an object or moves money accepts an Idempotency-Key.
		export := s.Response == reflect.TypeFor[api.CSV]()
		want := s.Method == "POST" && !export
		assert.Check(t, s.Keyed() == want, "%s: keyed %t; want %t", s.ID, s.Keyed(), want)
		want = s.Method != "GET" && !export
		assert.Check(t, s.Changes() == want, "%s: changes %t; want %t", s.ID, s.Changes(), want)
	}
}
