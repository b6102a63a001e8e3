package httpapi_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenDocument = "../../api/testdata/openapi.json"

func TestDocument(t *testing.T) {
	got, err := httpapi.Document(true)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(goldenDocument, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenDocument)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the document differs from %s; if this is intended, run make generate", goldenDocument)
	}
	again, err := httpapi.Document(true)
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("two builds of the document differ: %v", err)
	}
}

// document loads the contract's document with a library independent of the code that
// generated it. TestDocumentIsOpenAPI31 validates the examples.
func document(t *testing.T, withLifecycle bool) *openapi3.T {
	t.Helper()
	data, err := httpapi.Document(withLifecycle)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsOpenAPI31(t *testing.T) {
	doc := document(t, true)
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("openapi is %q", doc.OpenAPI)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		message := []rune(err.Error())
		t.Errorf("an example does not match its schema: run make generate, which records the examples again\n%s", string(message[:min(len(message), 500)]))
	}
}

func TestDocumentOperations(t *testing.T) {
	for _, withLifecycle := range []bool{false, true} {
		doc := document(t, withLifecycle)
		n := 0
		for _, item := range doc.Paths.Map() {
			n += len(item.Operations())
		}
		for _, s := range api.Specs() {
			if withLifecycle || !s.Lifecycle() {
				checkDocumented(t, doc, s)
				n--
			}
		}
		if n != 0 {
			t.Errorf("with lifecycle %t the document has %d operations too many", withLifecycle, n)
		}
	}
}

func checkDocumented(t *testing.T, doc *openapi3.T, o api.Spec) {
	t.Helper()
	item := doc.Paths.Value(o.Path)
	if item == nil || item.GetOperation(o.Method) == nil {
		t.Errorf("%s %s is missing", o.Method, o.Path)
		return
	}
	op := item.GetOperation(o.Method)
	if op.Responses.Status(o.Status) == nil {
		t.Fatalf("%s %s documents no %d", o.Method, o.Path, o.Status)
	}
	if marked := op.Extensions["x-lifecycle-extension"] == true; marked != o.Lifecycle() {
		t.Errorf("%s %s: x-lifecycle-extension %t", o.Method, o.Path, marked)
	}
	if capability, _ := op.Extensions["x-capability"].(string); capability != string(o.Capability) {
		t.Errorf("%s %s: x-capability %q", o.Method, o.Path, capability)
	}
	for status, response := range op.Responses.Map() {
		if status < "400" {
			continue
		}
		media := response.Value.Content.Get("application/json")
		if media == nil || media.Schema.Ref != "#/components/schemas/Error" {
			t.Errorf("%s %s documents another error body for %s", o.Method, o.Path, status)
		}
	}
	body := op.RequestBody
	if takes := body != nil; takes != (o.Method == "POST" || o.Method == "PATCH") {
		t.Errorf("%s %s takes a body: %t", o.Method, o.Path, takes)
	}
	// TestDocumentIsOpenAPI31 validates the examples against the schemas.
	if body != nil && body.Value.Content.Get("application/json").Example == nil {
		t.Errorf("%s has no example of its body", o.ID)
	}
	for mediaType, content := range op.Responses.Status(o.Status).Value.Content {
		if content.Example == nil {
			t.Errorf("%s has no example of its response in %s", o.ID, mediaType)
		}
	}
	for _, p := range op.Parameters {
		if p.Value.In == "path" && p.Value.Name != "account_id" && p.Value.Example == nil {
			t.Errorf("%s has no example of %s", o.ID, p.Value.Name)
		}
	}
}

// TestDocumentNullableEnums checks that nullable enumerations list null, because JSON
// Schema treats it as a value.
func TestDocumentNullableEnums(t *testing.T) {
	for name, schema := range document(t, true).Components.Schemas {
		for field, property := range schema.Value.Properties {
			if p := property.Value; len(p.Enum) > 0 && p.Type.Includes("null") != slices.Contains(p.Enum, nil) {
				t.Errorf("%s.%s: type %v, enum %v", name, field, *p.Type, p.Enum)
			}
		}
	}
}

func TestDocumentCSV(t *testing.T) {
	op := document(t, false).Paths.Value(prefix + "/mailboxes/export").Post
	content := op.Responses.Status(200).Value.Content
	if len(content) != 1 || content["text/csv"] == nil {
		t.Errorf("the export documents %v; want text/csv alone", content)
	}
}

func TestDocumentParameters(t *testing.T) {
	want := map[string]string{
		"GET /mailboxes":            "domain page page_size search status workspace_id",
		"GET /domains":              "page page_size search status tag workspace_id",
		"GET /forwarding":           "domain page page_size scope_type search verification_state workspace_id",
		"GET /credentials":          "domain page page_size scope_type search workspace_id",
		"GET /dedicated-ips":        "country_code page page_size status",
		"GET /auth/authorizations":  "capability_key grant_kind include_revoked subject_id subject_type",
		"GET /dns-records":          "domain name page page_size type",
		"GET /domains/availability": "name",
		"GET /audit-log":            "limit max_changes object operation request_id since subject until",
		"GET /auth/caller":          "",
	}
	doc := document(t, true)
	for _, o := range api.Specs() {
		path := strings.TrimPrefix(o.Path, prefix)
		if o.Method != "GET" {
			continue
		}
		var query []string
		for _, p := range doc.Paths.Value(o.Path).Get.Parameters {
			if p.Value.In == "query" {
				query = append(query, p.Value.Name)
			}
		}
		slices.Sort(query)
		expected, listed := want["GET "+path]
		switch {
		case listed:
		case strings.HasSuffix(path, "}") || path == "":
		default:
			expected = "page page_size"
		}
		if got := strings.Join(query, " "); got != expected {
			t.Errorf("GET %s takes %q; want %q", path, got, expected)
		}
	}
}

// TestDocumentExplainsEveryErrorType checks that the table of errors has each type that
// package api declares.
func TestDocumentExplainsEveryErrorType(t *testing.T) {
	source, err := os.ReadFile("../../api/error.go")
	if err != nil {
		t.Fatal(err)
	}
	table := document(t, true).Info.Description
	types := regexp.MustCompile(`(?m)^\tType\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(types) < 30 {
		t.Fatalf("only %d types were found", len(types))
	}
	for _, typ := range types {
		if !strings.Contains(table, "`"+typ[1]+"`") {
			t.Errorf("the table of errors lacks %s", typ[1])
		}
	}
}
