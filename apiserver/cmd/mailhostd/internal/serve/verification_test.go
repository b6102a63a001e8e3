package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestVerificationInABrowser(t *testing.T) {
	t.Parallel()
	m := mailhostdtest.NewInbox(t)
	s, owner := mailhostdtest.Start(t, append(m.Flags(), "--control-listen", "0")...)
	plane, _ := s.Log.Wait(t, "serving the control plane")["url"].(string)
	c := s.As(t, owner)
	rule, link := mailhostdtest.NewRule(t, c, m, "a-rather-long-address-that-must-break@some-department.of-the.example.org")
	b := browsertest.New(t, s.URL)
	b.WithoutJavaScript(t)

	assert.Assert(t, is.Equal(b.Leads(t, chromedp.Navigate(link)), http.StatusOK), "the link returned status")
	b.IsAccessible(t, "Forward mail to you?")
	b.Has(t, "button Confirm", "StaticText "+rule.TargetEmail)
	b.Do(t, chromedp.KeyEvent("\t"))
	assert.Check(t, is.Equal(b.Leads(t, chromedp.KeyEvent("\r")), http.StatusOK), "the key press returned status")
	b.IsAccessible(t, "Confirmed")
	b.Has(t, "StaticText Mail is forwarded to this address from now on:", "StaticText "+rule.TargetEmail)
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	assert.Check(t, rule.Active && rule.VerificationState == vocab.VerificationVerified, "after the click the rule is %+v", rule)
	b.Leads(t, chromedp.Navigate(link))
	b.IsAccessible(t, "Confirmed already")

	_, expired := mailhostdtest.NewRule(t, c, m, "b@example.org")
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/clock", `{"advance":"72h"}`, nil)
	for title, page := range map[string]struct {
		url    string
		status int
	}{"This link has expired": {expired, http.StatusGone}, "This link is not valid": {expired + "x", http.StatusNotFound}} {
		status := b.Leads(t, chromedp.Navigate(page.url))
		assert.Check(t, status == page.status, "%s: %d", title, status)
		b.IsAccessible(t, title)
	}
	b.Clean(t)
}

func TestForwardingIsVerifiedByMail(t *testing.T) {
	t.Parallel()
	m := mailhostdtest.NewInbox(t)
	s, owner := mailhostdtest.Start(t, m.Flags()...)
	if line := s.Log.Wait(t, "sending messages"); line["server"] != "smtp://"+m.Addr || line["from"] != "no-reply@mail.example" {
		t.Errorf("log line: %v", line)
	}
	c := s.As(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"Jane@Example.ORG"}`).Want(http.StatusCreated).Into(&rule)
	link := m.Link(t, "jane@example.org")
	assert.Assert(t, strings.HasPrefix(link, s.URL+"/verify-forwarding/"), "the message has the link %q", link)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
		assert.Check(t, rule.VerificationState == vocab.VerificationPending, "before a %s request to the link the rule is %s", method, rule.VerificationState)
		status, _ := mailhostdtest.Fetch(t, method, link)
		assert.Assert(t, status == http.StatusOK, "%s of the link: %d", method, status)
	}
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	assert.Check(t, rule.Active && rule.VerificationState == vocab.VerificationVerified, "the rule is %+v", rule)
	line := s.Log.Wait(t, "verification message sent")
	assert.Check(t, line["forwarding_id"] == rule.ID && line["attempts"] == 1.0 && line["request_id"] != "", "log line: %v", line)
	log := s.Log.String()
	for _, secret := range []string{link[strings.LastIndex(link, "/")+1:], "p@ss", "p%40ss"} {
		assert.Check(t, !strings.Contains(log, secret), "the log contains %s:\n%s", secret, log)
	}
}
