package signin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
)

// TestWebsiteDistrustsEndpoints checks that an issuer can't lead a visitor to a page that is
// none, or have the secret sent without TLS.
func TestWebsiteDistrustsEndpoints(t *testing.T) {
	t.Parallel()
	for want, endpoints := range map[string][2]string{
		"authorization_endpoint": {"javascript:alert(1)", "https://login.example.com/token"},
		"token_endpoint":         {"https://login.example.com/authorize", "http://login.example.com/token"},
	} {
		var issuer string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":"https://login.example.com/keys"}`, issuer, endpoints[0], endpoints[1])
		}))
		t.Cleanup(server.Close)
		issuer = server.URL
		w := &signin.Website{Client: signin.Client{Issuer: issuer, ID: "console"}, RedirectURL: "https://mail.example.com/return", Clock: time.Now}
		page, _, err := w.Start(t.Context())
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "the page is %q, error %v; want one about %s", page, err, want)
	}
}
