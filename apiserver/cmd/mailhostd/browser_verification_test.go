package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// isAccessible checks that the page has a language, one heading equal to its title, and a
// main landmark, and that it fits a small screen, such as a zoomed window.
func (b *browser) isAccessible(t *testing.T, title string) {
	t.Helper()
	b.has(t, "RootWebArea "+title, "main", "heading "+title)
	for expression, want := range map[string]string{
		"document.documentElement.lang":                    "en",
		"String(document.querySelectorAll('h1').length)":   "1",
		"document.querySelector('main h1').textContent":    title,
		"String(document.querySelectorAll('main').length)": "1",
	} {
		if got := evaluate[string](t, b, expression); got != want {
			t.Errorf("%s of the page %s is %q; want %q", expression, title, got, want)
		}
	}
	b.do(t, chromedp.EmulateViewport(320, 480))
	if width := evaluate[int](t, b, "document.documentElement.scrollWidth"); width > 320 {
		t.Errorf("the page %s is %d pixels wide on a 320 pixel screen", title, width)
	}
	b.do(t, chromedp.ResetViewport())
}

// newRule creates a forwarding rule and returns it with the link of its message.
func newRule(t *testing.T, c *apitest.Client, m *mailInbox, target string) (rule api.Forwarding, link string) {
	t.Helper()
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"`+target+`"}`).Want(http.StatusCreated).Into(&rule)
	return rule, m.link(t, target)
}

func TestVerificationInABrowser(t *testing.T) {
	t.Parallel()
	m := newMailbag(t)
	database, owner := initialize(t)
	s := serve(t, database, append(m.flags(), "--control-listen", "0")...)
	plane, _ := s.log.Wait(t, "serving the control plane")["url"].(string)
	c := s.as(t, owner)
	rule, link := newRule(t, c, m, "a-rather-long-address-that-must-break@some-department.of-the.example.org")
	b := newBrowser(t, s.url)

	if status := b.leads(t, chromedp.Navigate(link)); status != http.StatusOK {
		t.Fatalf("the link returned status %d", status)
	}
	b.screenshot(t, "verification-confirm")
	b.isAccessible(t, "Forward mail to you?")
	b.has(t, "button Confirm", "StaticText "+rule.TargetEmail)
	if status := b.leads(t, b.click(t, "button Confirm")); status != http.StatusOK {
		t.Errorf("the click returned status %d", status)
	}
	b.screenshot(t, "verification-confirmed")
	b.isAccessible(t, "Confirmed")
	b.has(t, "StaticText Mail is forwarded to this address from now on:", "StaticText "+rule.TargetEmail)
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	if !rule.Active || rule.VerificationState != vocab.VerificationVerified {
		t.Errorf("after the click the rule is %+v", rule)
	}
	b.leads(t, chromedp.Navigate(link))
	b.screenshot(t, "verification-used")
	b.isAccessible(t, "Confirmed already")

	_, expired := newRule(t, c, m, "b@example.org")
	callURL(t, http.MethodPost, plane+"/clock", `{"advance":"72h"}`, nil)
	for title, page := range map[string]struct {
		url    string
		status int
	}{"This link has expired": {expired, http.StatusGone}, "This link is not valid": {expired + "x", http.StatusNotFound}} {
		if status := b.leads(t, chromedp.Navigate(page.url)); status != page.status {
			t.Errorf("%s: %d", title, status)
		}
		b.screenshot(t, strings.ReplaceAll(title, " ", "-"))
		b.isAccessible(t, title)
	}
	b.clean(t)
}

// TestVerificationByKeyboardWithoutJavaScript checks that the page works with the
// keyboard only and without scripts.
func TestVerificationByKeyboardWithoutJavaScript(t *testing.T) {
	t.Parallel()
	m := newMailbag(t)
	database, owner := initialize(t)
	s := serve(t, database, m.flags()...)
	c := s.as(t, owner)
	rule, link := newRule(t, c, m, "a@example.org")
	b := newBrowser(t, s.url)
	b.withoutJavaScript(t)
	b.leads(t, chromedp.Navigate(link))
	b.do(t, chromedp.KeyEvent("\t"))
	b.screenshot(t, "verification-focus")
	if status := b.leads(t, chromedp.KeyEvent("\r")); status != http.StatusOK {
		t.Errorf("the key press returned status %d", status)
	}
	b.has(t, "heading Confirmed")
	b.clean(t)
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	if rule.VerificationState != vocab.VerificationVerified {
		t.Errorf("the rule is %s", rule.VerificationState)
	}
}

func TestPaymentPageInABrowser(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	fixture := t.TempDir() + "/fixture.json"
	writeFile(t, fixture, `{"registrar":{"payment_needed":true}}`)
	s := serve(t, database, "--fixture", fixture)
	bought := s.as(t, owner).Purchase(owner.WorkspaceID, "example.com").Want(http.StatusOK)
	b := newBrowser(t, s.url)
	if status := b.leads(t, chromedp.Navigate(bought.Str("payment_url"))); status != http.StatusOK {
		t.Fatalf("the payment returned status %d", status)
	}
	b.screenshot(t, "payment")
	b.isAccessible(t, "Payment needed")
	b.has(t, "list", "StaticText example.com", "StaticText  waits for payment")
	b.clean(t)
}
