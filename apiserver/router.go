package apiserver

import (
	"net/http"
	"path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/route"
)

// HealthPath is where the health checks are.
const HealthPath = "/healthz/"

// router is a ServeMux that can say where a request leads to. By itself a
// ServeMux answers in text where it has no route, and redirects where a path is
// not clean.
type router struct {
	*http.ServeMux
	// operations are those of the contract by their routes' patterns.
	operations map[string]api.Spec
}

func newRouter() *router {
	r := &router{ServeMux: http.NewServeMux(), operations: map[string]api.Spec{}}
	for _, spec := range api.Specs() {
		r.operations[spec.Method+" "+spec.Path] = spec
	}
	return r
}

// match returns the pattern of a request's route; without one, allow lists the
// methods that the path has, if any.
func (m *router) match(r *http.Request) (pattern, allow string) {
	p := r.URL.EscapedPath() // an escaped slash does not end a segment
	if p == "" || path.Clean(p) != p {
		return "", ""
	}
	return route.Of(m.ServeMux, r)
}
