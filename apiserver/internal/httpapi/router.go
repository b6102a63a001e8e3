package httpapi

import (
	"net/http"
	"path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/route"
)

// router is a ServeMux that can return a request's route. By itself a ServeMux responds
// in text if it has no route, and redirects if a path is not clean.
type router struct {
	*http.ServeMux
	// operations are the contract's by the patterns of their routes.
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
