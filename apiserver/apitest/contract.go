package apitest

import (
	"bytes"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// contract contains the OpenAPI document, the routes of its operations, and the schemas
// of responses. An independent library compiles the schemas.
type contract struct {
	mux      *http.ServeMux
	document Object
	mu       sync.Mutex
	compiler *jsonschema.Compiler // caches compiled schemas; guarded by mu
}

const documentURL = "openapi.json"

var theContract = sync.OnceValue(func() *contract {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(httpapi.Document(true)))
	if err != nil {
		panic(err)
	}
	c := &contract{mux: http.NewServeMux(), document: doc.(Object), compiler: jsonschema.NewCompiler()}
	c.compiler.AssertFormat()
	c.compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: func(v any) error {
		if s, ok := v.(string); ok && !microseconds.MatchString(s) {
			return errors.New("it is not in UTC, with microseconds")
		}
		return nil
	}})
	if err := c.compiler.AddResource(documentURL, doc); err != nil {
		panic(err)
	}
	for _, s := range api.Specs() {
		c.mux.HandleFunc(s.Method+" "+s.Path, func(http.ResponseWriter, *http.Request) {})
	}
	return c
})

// at returns the object at a path of the document.
func (c *contract) at(steps ...string) (found Object, ok bool) {
	found, ok = c.document, true
	for _, step := range steps {
		found, ok = found[step].(Object)
	}
	return found, ok
}

// schema returns the schema at a path of the document.
func (c *contract) schema(steps ...string) *jsonschema.Schema {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	escaped := []string{documentURL + "#"}
	for _, step := range steps {
		escaped = append(escaped, escape.Replace(step))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiler.MustCompile(strings.Join(escaped, "/"))
}

var microseconds = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)

// Conforms checks the response against the document: the operation documents the status
// code, and the body matches its schema. [Client.Do] calls it.
func (r *Response) Conforms() {
	r.T.Helper()
	if r.Header.Get("X-Request-Id") == "" {
		r.T.Errorf("no X-Request-Id: %s", r)
	}
	c := theContract()
	schema := []string{"components", "schemas", "Error"}
	if _, pattern := c.mux.Handler(r.Request); pattern != "" && r.Status != http.StatusMethodNotAllowed {
		method, path, _ := strings.Cut(pattern, " ")
		method = strings.ToLower(method)
		status := strconv.Itoa(r.Status)
		place := []string{"paths", path, method, "responses", status}
		documented, ok := c.at(place...)
		if name, shared := documented["$ref"].(string); shared {
			place = strings.Split(strings.TrimPrefix(name, "#/"), "/")
			documented, _ = c.at(place...)
		}
		switch {
		case !ok && r.Status != http.StatusNotFound:
			r.T.Errorf("the operation does not document the status: %s", r)
			return
		case ok && documented["content"] == nil:
			if len(r.Raw) > 0 {
				r.T.Errorf("the response has a body: %s", r)
			}
			return
		case ok:
			mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			if documented["content"].(Object)[mediaType] == nil {
				r.T.Errorf("the operation does not document %q: %s", mediaType, r)
				return
			}
			schema = append(place, "content", mediaType, "schema")
		}
	}
	if r.JSON == nil || r.Request.Method == http.MethodHead {
		return
	}
	if err := c.schema(schema...).Validate(r.JSON); err != nil {
		r.T.Errorf("%s: %v", r, err)
	}
	if r.Status >= 400 {
		r.checkError()
	}
}

// checkError checks the rules for error bodies that a schema can't express.
func (r *Response) checkError() {
	r.T.Helper()
	if len(r.JSON.(map[string]any)) != 1 || len(r.Problems()) == 0 {
		r.T.Errorf("an error has more than a detail, or an empty one: %s", r)
	}
	for _, p := range r.Problems() {
		place, typ, _ := strings.Cut(p, " ")
		first, _, _ := strings.Cut(place, ".")
		if typ == "" || first != "path" && first != "query" && first != "header" && first != "body" {
			r.T.Errorf("a problem has the location %q: %s", place, r)
		}
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		r.T.Errorf("an error has the media type %q: %s", got, r)
	}
}
