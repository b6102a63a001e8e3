package route_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/route"
)

func TestOf(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /a/{id}", "DELETE /a/{id}"} {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") })
	}
	for _, tt := range []struct{ method, path, pattern, allow string }{
		{"GET", "/a/1", "GET /a/{id}", ""},
		{"DELETE", "/a/1", "DELETE /a/{id}", ""},
		{"POST", "/a/1", "", "DELETE, GET, HEAD"},
		{"GET", "/b", "", ""},
	} {
		pattern, allow := route.Of(mux, httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, nil))
		assert.Check(t, pattern == tt.pattern && allow == tt.allow, "%s %s: %q, %q; want %q, %q", tt.method, tt.path, pattern, allow, tt.pattern, tt.allow)
	}
}
