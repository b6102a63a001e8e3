package examples_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestExamplesAreValid validates every configuration below examples.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	checked := 0
	walk(t, examples, func(path string) {
		if filepath.Ext(path) == ".tf" || strings.HasSuffix(path, ".tfquery.hcl") || strings.HasSuffix(path, ".tftest.hcl") || strings.HasSuffix(path, ".tfmock.hcl") {
			checked++
			t.Run(strings.TrimPrefix(filepath.ToSlash(path), examples+"/"), func(t *testing.T) { c.check(t, path, read(t, path)) })
		}
	})
	assert.Check(t, checked >= 20, "only %d configurations were found", checked)
}

// fenced matches a configuration in a page.
var fenced = regexp.MustCompile("(?ms)^```(terraform|hcl)\n(.*?)^```$")

// TestPagesAreValid validates every configuration in a page. Write an incomplete
// configuration in the text, or in a code block of another language.
func TestPagesAreValid(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	checked := 0
	for _, page := range append(markdown(t, "../../docs", examples), "../../README.md") {
		t.Run(strings.TrimPrefix(filepath.ToSlash(page), "../../"), func(t *testing.T) {
			for _, found := range fenced.FindAllStringSubmatch(read(t, page), -1) {
				checked++
				c.check(t, page, found[2])
			}
		})
	}
	assert.Check(t, checked >= 20, "only %d configurations were found", checked)
}

// markdown returns the pages below folders.
func markdown(t *testing.T, folders ...string) (pages []string) {
	t.Helper()
	for _, dir := range folders {
		walk(t, dir, func(path string) {
			if filepath.Ext(path) == ".md" {
				pages = append(pages, path)
			}
		})
	}
	return pages
}

// walk calls do for each file below dir.
func walk(t *testing.T, dir string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			do(path)
		}
		return err
	})
	assert.NilError(t, err)
}

// TestAccProvider connects with each provider block. A test server replaces the API and
// the OAuth issuer.
//
// It is not parallel, because an embedded account is in the working directory.
func TestAccProvider(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(examples, "provider", "*.tf"))
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
