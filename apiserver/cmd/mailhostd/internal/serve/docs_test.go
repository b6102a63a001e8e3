package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	s, _ := mailhostdtest.Start(t)
	for path, mediaType := range map[string]string{
		"/docs": "text/html; charset=utf-8", "/openapi.json": "application/json",
		"/docs/page.css": "text/css; charset=utf-8", "/docs/page.js": "text/javascript; charset=utf-8",
		"/docs/swagger-ui.css": "text/css; charset=utf-8", "/docs/swagger-ui-bundle.js": "application/javascript", "/docs/favicon-32x32.png": "image/png",
	} {
		got, body := s.Fetch(t, http.MethodGet, path)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != mediaType || body == "" {
			t.Errorf("GET %s: %s, %s, %d bytes", path, got.Status, got.Header.Get("Content-Type"), len(body))
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"} {
			assert.Check(t, got.Header.Get(name) == want, "%s of %s is %q", name, path, got.Header.Get(name))
		}
		csp := got.Header.Get("Content-Security-Policy")
		assert.Check(t, strings.Contains(csp, "default-src 'none'; script-src 'self';") && !strings.Contains(csp, "http"), "the policy of %s is %s", path, csp)
		assert.Check(t, got.Header.Get("X-Request-Id") != "", "GET %s has no request id", path)
		head, body := s.Fetch(t, http.MethodHead, path)
		assert.Check(t, head.StatusCode == http.StatusOK && body == "" && head.Header.Get("Content-Type") == mediaType, "HEAD %s: %s %q", path, head.Status, body)
		again, body := s.Fetch(t, http.MethodGet, path, "If-None-Match", got.Header.Get("Etag"))
		assert.Check(t, again.StatusCode == http.StatusNotModified && body == "", "GET %s again: %s", path, again.Status)
		post, body := s.Fetch(t, http.MethodPost, path)
		if post.StatusCode != http.StatusMethodNotAllowed || post.Header.Get("Allow") != "GET, HEAD" || !strings.Contains(body, `"type":"method_not_allowed"`) {
			t.Errorf("POST %s: %s, Allow %q, %s", path, post.Status, post.Header.Get("Allow"), body)
		}
	}
	published, _ := mailhostdtest.Start(t, "--published-only")
	for _, whole := range []bool{true, false} {
		want := httpapi.Document(whole)
		server := map[bool]*mailhostdtest.Server{true: s, false: published}[whole]
		_, got := server.Fetch(t, http.MethodGet, "/openapi.json")
		assert.Check(t, got == string(want), "the document has %d bytes; want %d", len(got), len(want))
	}
	for _, path := range []string{"/docs/", "/docs/x", "/docs/index.html", "/docs/swagger-ui.js", "/docs/oauth2-redirect.html", "/docs/../docs", "//docs", "/%64ocs", "/openapi.json/"} {
		got, body := s.Fetch(t, http.MethodGet, path)
		if got.StatusCode != http.StatusNotFound || got.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, `"type":"not_found"`) {
			t.Errorf("GET %s: %s %s", path, got.Status, body)
		}
	}
}

func TestDocsInABrowser(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	b := browsertest.New(t, s.URL)
	assert.Assert(t, is.Equal(b.Leads(t, chromedp.Navigate(s.URL+"/docs")), http.StatusOK), "the page has status")
	b.Do(t, chromedp.WaitVisible(chromedp.CSS(".opblock")))
	var document struct {
		Paths map[string]map[string]any
	}
	_, text := s.Fetch(t, http.MethodGet, "/openapi.json")
	assert.NilError(t, json.Unmarshal([]byte(text), &document))
	operations := 0
	for _, path := range document.Paths {
		operations += len(path)
	}
	n := browsertest.Evaluate[int](t, b, "document.querySelectorAll('.opblock').length")
	assert.Check(t, n == operations && n != 0, "the page shows %d operations; want %d", n, operations)
	b.Has(t, "main", "StaticText OAS")

	// "Try it out" works under the page's policy, here without a credential.
	b.Do(t, b.Click(t, "button GET /v1 /public /accounts /{account_id} Read the account"), chromedp.WaitVisible(chromedp.CSS(".opblock.is-open .try-out__btn")))
	b.Do(t, b.Click(t, "button Try it out"), chromedp.SendKeys(chromedp.CSS(".is-open [data-param-name=account_id] input"), owner.AccountID))
	b.Do(t, b.Click(t, "button Execute"), chromedp.WaitVisible(chromedp.CSS(".is-open .live-responses-table")))
	got := browsertest.Evaluate[string](t, b, "document.querySelector('.live-responses-table').innerText")
	assert.Check(t, strings.Contains(got, "not_authenticated"), "the page shows the response as %q", got)
	b.Clean(t)
}

// TestHealthcheck checks that the variables of a server with TLS are enough, as in a container.
func TestHealthcheck(t *testing.T) {
	t.Parallel()
	pair := certificatetest.NewPair(t, 1)
	s, _ := mailhostdtest.Start(t, mailhostdtest.TLSArgs(pair)...)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https"), "127.0.0.1:")
	code, stdout, stderr := mailhostdtest.RunWith(t, []string{"MAILHOSTD_LISTEN=:" + port, "MAILHOSTD_TLS_CERT=" + pair.Cert}, "healthcheck")
	assert.Check(t, code == cli.ExitOK && stdout+stderr == "", "exit code %d, %q, %q", code, stdout, stderr)
}
