package signin_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/oauth2"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
)

// TestWebsiteDistrustsEndpoints checks that an issuer can't direct a visitor to an invalid page, or make
// the client send the secret without TLS.
func TestWebsiteDistrustsEndpoints(t *testing.T) {
	t.Parallel()
	for want, endpoint := range map[string]oauth2.Endpoint{
		"authorization_endpoint": {AuthURL: "javascript:alert(1)", TokenURL: "https://login.example.com/token"},
		"token_endpoint":         {AuthURL: "https://login.example.com/authorize", TokenURL: "http://login.example.com/token"},
	} {
		w := &signin.Website{Endpoint: func(context.Context) (oauth2.Endpoint, error) { return endpoint, nil }}
		page, _, err := w.Start(t.Context())
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "the page is %q, error %v; want one about %s", page, err, want)
	}
}
