package apiserver_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// contract is the OpenAPI document, as a library sees it that has no part in
// making it, and the routes of its operations.
var contract = sync.OnceValues(func() (*openapi3.T, *http.ServeMux) {
	data, err := httpapi.Document(true)
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		panic(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	for _, s := range api.Specs() {
		mux.HandleFunc(s.Method+" "+s.Path, func(http.ResponseWriter, *http.Request) {})
	}
	return doc, mux
})

var microseconds = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)

// conforms checks an answer against the document: it must be one that the
// operation documents, with a body of the documented schema.
func (a *answer) conforms() {
	a.t.Helper()
	doc, mux := contract()
	if a.header.Get("X-Request-Id") == "" {
		a.t.Errorf("no X-Request-Id: %s", a)
	}
	schema := doc.Components.Schemas["Error"]
	if _, pattern := mux.Handler(a.request); pattern != "" && a.status != http.StatusMethodNotAllowed {
		method, path, _ := strings.Cut(pattern, " ")
		answer := doc.Paths.Value(path).GetOperation(method).Responses.Status(a.status)
		if answer == nil && a.status != http.StatusNotFound {
			a.t.Errorf("the operation documents no such status: %s", a)
			return
		}
		if answer != nil {
			if len(answer.Value.Content) == 0 {
				if len(a.raw) > 0 {
					a.t.Errorf("the answer has a body: %s", a)
				}
				return
			}
			mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
			media := answer.Value.Content[mediaType]
			if media == nil {
				a.t.Errorf("the operation documents no %q: %s", mediaType, a)
				return
			}
			schema = media.Schema
		}
	}
	if a.json == nil || a.request.Method == http.MethodHead {
		return
	}
	if err := schema.Value.VisitJSON(a.json, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse(), openapi3.MultiErrors()); err != nil {
		a.t.Errorf("%s: %v", a, err)
	}
	a.checkTimes(a.json)
	if a.status >= 400 {
		a.checkError()
	}
}

// checkTimes checks that every time is told in UTC with microseconds.
func (a *answer) checkTimes(v any) {
	a.t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if s, ok := member.(string); ok && strings.HasSuffix(key, "_at") && !microseconds.MatchString(s) {
				a.t.Errorf("%s is %q, in %s", key, s, a)
			}
			a.checkTimes(member)
		}
	case []any:
		for _, item := range v {
			a.checkTimes(item)
		}
	}
}

// checkError checks what the schema of an error can't say.
func (a *answer) checkError() {
	a.t.Helper()
	if len(a.json.(map[string]any)) != 1 || len(a.problems()) == 0 {
		a.t.Errorf("an error is not only a detail: %s", a)
	}
	for _, p := range a.problems() {
		place, typ, _ := strings.Cut(p, " ")
		first, _, _ := strings.Cut(place, ".")
		if typ == "" || first != "path" && first != "query" && first != "header" && first != "body" {
			a.t.Errorf("a problem is at %q: %s", place, a)
		}
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		a.t.Errorf("an error is %q: %s", got, a)
	}
}
