package console_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// overviewPicture is the second picture of the README, from the root of the repository.
const overviewPicture = ".github/images/console.png"

// TestOverviewPicture opens the overview of a company's account. With -update it draws the picture. The
// pixels depend on the browser, so that only the existence of the picture is checked otherwise.
func TestOverviewPicture(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	c := s.As(t, owner)
	pipeline := c.In(t)
	_, pipeline.Token = c.LimitedAccount("ci-deploy",
		apitest.Grant{Capability: vocab.CapMailboxCreate}, apitest.Grant{Capability: vocab.CapForwardingManage}, apitest.Grant{Capability: vocab.CapDNSRecordCreate})
	for _, name := range []string{"example.com", "example.net"} {
		c.Domain(name)
	}
	items := make([]apitest.Object, 40)
	for i := range items {
		items[i] = apitest.Object{"local_part": fmt.Sprintf("person%d", i), "first_name": "Person", "last_name": fmt.Sprint(i)}
	}
	pipeline.Post("/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": items}).Want(http.StatusOK)
	c.Post("/dedicated-ips/claim", apitest.Object{"option_id": c.Option("eu")}).Want(http.StatusCreated)
	pipeline.Forwarding("archive@example.org", apitest.Object{"domain": "example.com"})
	pipeline.CreateRecord("example.net", "www", "A", "192.0.2.10").Want(http.StatusCreated)
	pipeline.Post("/mailboxes", apitest.Object{"domain": "example.net", "local_part": "jane.doe", "first_name": "Jane", "last_name": "Doe"}).Want(http.StatusCreated)

	b := browsertest.New(t, s.URL)
	b.Leads(t, chromedp.Navigate(s.URL+"/console"))
	b.Do(t, chromedp.SendKeys(chromedp.CSS("#token"), owner.Token))
	b.Leads(t, b.Click(t, "button Sign in"))
	b.Has(t, "heading Overview", "StaticText 41", "link Mailboxes", "StaticText 1 forwarding rule waiting for the recipient", "heading Recent changes")
	picture := "../../../../../" + overviewPicture
	if golden.FlagUpdate() {
		screen, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot())
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(picture, screen, 0o644)) //nolint:gosec // to be published
	}
	_, err := os.Stat(picture)
	assert.NilError(t, err, "run make pictures")
}
