// Package route matches requests to the routes of a http.ServeMux, for handlers whose errors are
// JSON instead of http.ServeMux's text.
package route

import "net/http"

// Of returns the pattern of a request's route. Without a route, allow lists the methods of the
// path, if any.
func Of(mux *http.ServeMux, r *http.Request) (pattern, allow string) {
	handler, pattern := mux.Handler(r)
	if pattern == "" {
		response := discarded{http.Header{}}
		handler.ServeHTTP(response, r)
		allow = response.header.Get("Allow")
	}
	return pattern, allow
}

// discarded stores only the headers of a response.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header       { return d.header }
func (discarded) Write(b []byte) (int, error) { return len(b), nil }
func (discarded) WriteHeader(int)             {}
