package route

import "net/http"

// Of returns the pattern of a request's route; without one, allow lists the
// methods that the path has, if any.
func Of(mux *http.ServeMux, r *http.Request) (pattern, allow string) {
	handler, pattern := mux.Handler(r)
	if pattern == "" {
		answer := unread{http.Header{}}
		handler.ServeHTTP(answer, r)
		allow = answer.header.Get("Allow")
	}
	return pattern, allow
}

// unread takes the headers of an answer that nobody reads.
type unread struct{ header http.Header }

func (u unread) Header() http.Header       { return u.header }
func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) WriteHeader(int)             {}
