// Package route matches requests to the routes of a http.ServeMux, for handlers that
// respond in JSON where http.ServeMux would respond in text.
package route

import "net/http"

// Of returns the pattern of a request's route. If there is none, allow has the methods
// that the path supports, if any.
func Of(mux *http.ServeMux, r *http.Request) (pattern, allow string) {
	handler, pattern := mux.Handler(r)
	if pattern == "" {
		response := discarded{http.Header{}}
		handler.ServeHTTP(response, r)
		allow = response.header.Get("Allow")
	}
	return pattern, allow
}

// discarded keeps only the headers of a response.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header       { return d.header }
func (discarded) Write(b []byte) (int, error) { return len(b), nil }
func (discarded) WriteHeader(int)             {}
