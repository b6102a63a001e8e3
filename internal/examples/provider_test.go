package examples_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccProvider connects with each provider block. A test server replaces the API and
// the OAuth issuer.
//
// It is not parallel, because an embedded account is in the working directory.
func TestAccProvider(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "provider", "*.tf"))
	assert.Assert(t, err == nil && len(files) >= 4, "found %d examples: %v", len(files), err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := read(t, file)
			s := acctest.NewServer(t, acctest.Options{})
			remote := strings.Contains(text, "base_url")
			if remote {
				t.Setenv("MAILHOST_TOKEN", s.Token)
			}
			if strings.Contains(text, "oauth2") {
				t.Setenv("MAILHOST_TOKEN", "")
			}
			t.Chdir(t.TempDir())
			// The namespace that users write.
			t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "mailhost")
			resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), Steps: []resource.TestStep{{
				Config:          pointAt(s, issuer(t, s), text) + "data \"mailhost_account\" \"this\" {}\n",
				ConfigVariables: config.Variables{"oauth_client_secret": config.StringVariable("client-secret")},
				Check: func(state *terraform.State) error {
					account := state.RootModule().Resources["data.mailhost_account.this"].Primary.ID
					if (account == s.AccountID) != remote {
						return fmt.Errorf("it is connected to the account %s", account)
					}
					return nil
				},
			}}})
		})
	}
}

// pointAt replaces the sample values in a provider block.
func pointAt(s *acctest.Server, issuer, text string) string {
	return strings.NewReplacer(
		"http://127.0.0.1:8080", s.URL,
		"https://api.mailhost.example", s.URL,
		"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", s.AccountID,
		"https://login.example.com/oauth2/token", issuer,
	).Replace(text)
}

// issuer starts an OAuth issuer that issues the account's token to the example's client.
func issuer(t *testing.T, s *acctest.Server) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "mailhost" || id != "terraform" || secret != "client-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": 300}`, s.Token)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
