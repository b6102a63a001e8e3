package control_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

// A page whose name has been pointed to this machine is of the same origin to
// its browser.
func TestNamesPointedToThisMachine(t *testing.T) {
	t.Parallel()
	var plane control.Plane
	server := httptest.NewServer(plane.Handler(nil))
	t.Cleanup(server.Close)
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:9000": 200, "127.0.0.1": 200, "[::1]:9000": 200, "evil.example": 403, "evil.example:9000": 403, "localhost.evil.example": 403,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%q: %d; want %d", host, resp.StatusCode, want)
		}
	}
}
