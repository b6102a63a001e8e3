package apiservertest_test

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// TestConfiguredMiddleware checks that faults and journal stay in effect with a middleware of the test.
func TestConfiguredMiddleware(t *testing.T) {
	t.Parallel()
	s := apiservertest.Start(t, apiservertest.Configure(func(o *apiserver.Options) {
		around := o.Middleware // which a test may keep
		o.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Via", "1.1 test")
				around(next).ServeHTTP(w, r)
			})
		}
	}))
	_, err := s.Faults.Add(fault.Rule{Operation: "list-workspaces", Status: http.StatusServiceUnavailable})
	assert.NilError(t, err)
	resp, err := s.Client().Get(s.Path("/workspaces"))
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, resp.StatusCode, http.StatusServiceUnavailable)
	assert.Equal(t, resp.Header.Get("Via"), "1.1 test")
	assert.Equal(t, len(s.Journal.Entries(journal.Filter{})), 1)
}
