package serve_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestOutboxPage reads a message in a browser, and follows its link.
func TestOutboxPage(t *testing.T) {
	t.Parallel()
	s, plane, owner, _ := mailhostdtest.ServeWithControl(t)
	s.As(t, owner).Do(http.MethodPost, "/forwarding", `{"target_email":"archive@example.org"}`).Want(http.StatusCreated)
	b := browsertest.New(t, plane, s.URL)
	assert.Equal(t, b.Leads(t, chromedp.Navigate(plane+"/outbox")), http.StatusOK)
	b.IsAccessible(t, "Outbox")
	b.Has(t, "heading Confirm that mail may be forwarded to you", "Iframe HTML of the message to archive@example.org")
	link := browsertest.Evaluate[string](t, b, `document.querySelector("dd a").href`)
	assert.Equal(t, b.Leads(t, chromedp.Navigate(link)), http.StatusOK)
	b.Clean(t)
}
