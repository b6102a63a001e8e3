package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// consolePages are pages of the console that every owner can open.
var consolePages = func() []string {
	pages := []string{"/domains/example.com", "/mailboxes/jane@example.com"}
	for _, s := range console.Sections {
		pages = append(pages, s.Path)
	}
	return pages
}()

// visitor is a browser without pages: it keeps cookies and follows no redirects.
type visitor struct {
	*testing.T
	base string
	http *http.Client
}

func newVisitor(t *testing.T, s *mailhostdtest.Server) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	assert.NilError(t, err)
	return &visitor{t, s.URL + "/console", &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send requests a page, or sends a form to it. headers alternates names and values.
func (v *visitor) send(method, path string, form url.Values, headers ...string) (*http.Response, string) {
	v.Helper()
	return mailhostdtest.Send(v.T, v.http, method, v.base+path, form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

// get returns a page that must have a status code.
func (v *visitor) get(path string, status int) string {
	v.Helper()
	resp, body := v.send(http.MethodGet, path, nil)
	assert.Check(v, resp.StatusCode == status, "GET %s: %s; want %d", path, resp.Status, status)
	return body
}

func (v *visitor) signIn(token string) *http.Response {
	v.Helper()
	resp, _ := v.send(http.MethodPost, "/sign-in", url.Values{"token": {" " + token + "\n"}})
	assert.Assert(v, resp.StatusCode == http.StatusSeeOther, "signing in: %s", resp.Status)
	return resp
}

// inConsole reports whether a browser that follows a link stays in the console.
func inConsole(to string) bool {
	u, err := url.Parse(to)
	return err == nil && u.Host == "" && (path.Clean(u.Path) == "/console" || strings.HasPrefix(path.Clean(u.Path), "/console/"))
}

// TestTranscript checks each page for an owner, a token that may only plan, and a token with few rights.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/console.txt") }

// TestConsoleInABrowser signs in, searches, resends a verification, revokes a token and
// signs out, without JavaScript.
func TestConsoleInABrowser(t *testing.T) {
	t.Parallel()
	m := mailhostdtest.NewInbox(t)
	s, owner := mailhostdtest.Start(t, m.Flags()...)
	c := s.As(t, owner)
	c.Domain("example.com")
	c.Post("/mailboxes", apitest.Object{"domain": "example.com", "local_part": "jane", "first_name": "<b>Jane</b>", "last_name": "Doe"}).Want(http.StatusCreated)
	c.CreateMailbox("example.com", "other").Want(http.StatusCreated)
	c.Post("/dedicated-ips/claim", apitest.Object{"option_id": c.Option("eu")}).Want(http.StatusCreated)
	const target = "a-rather-long-address-that-must-break@some-department.of-the.example.org"
	rule, link := mailhostdtest.NewRule(t, c, m, target)
	spare, _ := c.LimitedAccount("spare", apitest.Grant{Capability: vocab.CapMailboxView})

	b := browsertest.New(t, s.URL)
	b.WithoutJavaScript(t)
	b.Leads(t, chromedp.Navigate(s.URL+"/"))
	b.Has(t, "main", "heading Sign in", "textbox Token", "button Sign in")
	b.Do(t, chromedp.SendKeys(chromedp.CSS("#token"), "mhsa_wrong"))
	assert.Check(t, is.Equal(b.Leads(t, b.Click(t, "button Sign in")), http.StatusUnauthorized), "a wrong token: status")
	b.Has(t, "alert", "StaticText That did not work: The token is malformed; was it copied whole?")
	b.Do(t, chromedp.SendKeys(chromedp.CSS("#token"), owner.Token))
	b.Leads(t, b.Click(t, "button Sign in"))
	b.Has(t, "banner", "navigation Console", "main", "contentinfo", "link Skip to the content", "heading Overview", "link Mailboxes", "StaticText 1 forwarding rule waiting for the recipient")

	for _, path := range consolePages {
		assert.Check(t, is.Equal(b.Leads(t, chromedp.Navigate(s.URL+"/console"+path)), http.StatusOK), "%s has status", path)
		b.IsAccessible(t, strings.TrimSuffix(browsertest.Evaluate[string](t, b, "document.title"), " · mailhost"))
		for expression, want := range map[string]string{
			"String(document.querySelectorAll('table:not(:has(caption))').length)":                                              "0",
			"String([...document.querySelectorAll('input,select')].filter(e => e.type != 'hidden' && !e.labels.length).length)": "0",
			"String(document.querySelectorAll('nav [aria-current]').length)":                                                    "1",
		} {
			assert.Check(t, is.Equal(browsertest.Evaluate[string](t, b, expression), want), "%s of %s", expression, path)
		}
	}

	b.Leads(t, chromedp.Navigate(s.URL+"/console/mailboxes"))
	b.Do(t, chromedp.SendKeys(chromedp.CSS("#search"), "JANE@"))
	b.Leads(t, b.Click(t, "button Search"))
	b.Has(t, "link jane@example.com", "cell <b>Jane</b> Doe", "table 1 mailbox, in the order in which they were created")
	assert.Check(t, b.Accessible(t)["link other@example.com"] == nil, "the search finds another mailbox")

	b.Leads(t, chromedp.Navigate(s.URL+"/console/forwarding"))
	b.Leads(t, b.Click(t, "button Resend the verification to "+target))
	b.Has(t, "status", "StaticText A new verification message is on its way. The link before it no longer works.")
	m.Wait(2)
	again := m.Link(t, target)
	assert.Check(t, again != link, "the new message has the link of the old one")
	c.Get("/forwarding/"+rule.ID).Want(http.StatusOK).Is("target_email", target)

	b.Leads(t, chromedp.Navigate(s.URL+"/console/tokens"))
	b.Leads(t, b.Click(t, "link Revoke spare"))
	b.Has(t, "heading Revoke this token?", "StaticText mailbox.view")
	c.Get("/auth/service-accounts/"+spare).Want(http.StatusOK).Is("revoked_at", nil)
	b.Leads(t, b.Click(t, "button Revoke the token"))
	b.Has(t, "StaticText The token is revoked and no longer works.")
	assert.Check(t, c.Get("/auth/service-accounts/"+spare).Want(http.StatusOK).At("revoked_at") != nil, "the token is not revoked")
	c.Get("/audit-log?operation=revoke-service-account").Is("0.subject.name", "owner", "0.remote_address", "127.0.0.1")

	b.Leads(t, b.Click(t, "button Sign out"))
	b.Has(t, "heading Sign in", "StaticText You have signed out.")
	b.Leads(t, chromedp.Navigate(s.URL+"/console/tokens"))
	b.Has(t, "heading Sign in")
	b.Clean(t)
}

// TestConsoleHeaders checks that no page of the console is cached, framed, scripted or referred from,
// that its cookie is only for this server, and that the pages show each kind of object.
func TestConsoleHeaders(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database)
	c := s.As(t, owner)
	c.Domain("example.com")
	c.CreateMailbox("example.com", "jane").Want(http.StatusCreated)
	v := newVisitor(t, s)
	cookie := v.signIn(owner.Token).Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/console" || strings.Contains(cookie.Value, strings.Split(owner.Token, "_")[2]) {
		t.Errorf("the cookie is %s", cookie)
	}
	for _, path := range append([]string{"/sign-in", "/nothing"}, consolePages...) {
		resp, body := v.send(http.MethodGet, path, nil)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			assert.Check(t, is.Equal(resp.Header.Get(name), want), "%s of %s", name, path)
		}
		assert.Check(t, !strings.Contains(body, "<script") && !strings.Contains(body, " style="), "%s has a script or an inline style", path)
	}
	s.CheckListsRead(t, "add a page with its list (sections in view.go), or a reason in place of one here", api.ListMasterPasswords.ID) // nothing but a name
	https := newVisitor(t, mailhostdtest.Serve(t, database, "--public-url", "https://mail.example.com/behind"))
	resp, _ := https.send(http.MethodPost, "/sign-in", url.Values{"token": {owner.Token}})
	if cookie := resp.Cookies()[0]; !cookie.Secure || !strings.HasPrefix(cookie.Name, "__Host-") || cookie.Path != "/" || resp.Header.Get("Location") != "/behind/console" {
		t.Errorf("over TLS the cookie is %s, and leads to %s", cookie, resp.Header.Get("Location"))
	}
}

// TestSignOutEndsCopies checks that "Sign out" ends copies of the cookie too.
func TestSignOutEndsCopies(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	v, thief := newVisitor(t, s), newVisitor(t, s)
	v.signIn(owner.Token)
	at, err := url.Parse(v.base)
	assert.NilError(t, err)
	thief.http.Jar.SetCookies(at, v.http.Jar.Cookies(at))
	thief.get("/audit-log", http.StatusOK)
	v.send(http.MethodPost, "/sign-out", nil)
	resp, _ := thief.send(http.MethodGet, "/audit-log", nil)
	assert.Check(t, resp.StatusCode == http.StatusSeeOther, "a copied cookie opens the console after the sign-out: %s", resp.Status)
}

// brokenStore fails each change while broken is set.
type brokenStore struct {
	store.Store
	broken *atomic.Bool
}

func (s brokenStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.broken.Load() {
		return errors.New("the disk is broken")
	}
	return s.Store.Update(ctx, fn)
}

// TestSignInEndsTheEarlierSession checks that a sign-in ends the session that it replaces in the browser, also in
// copies of its cookie, and that one which can't be ended does not keep anybody from signing in.
func TestSignInEndsTheEarlierSession(t *testing.T) {
	t.Parallel()
	var pages *console.Console
	broken, log := new(atomic.Bool), apitest.NewLog()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	h := apitest.New(t, func(o *apiserver.Options) {
		pages = console.New(console.Options{PublicURL: "http://localhost", Clock: o.Clock, Log: log.Logger()})
		o.Store, o.Middleware = brokenStore{db, broken}, pages.Middleware
	})
	pages.Start(h.Service)
	server := httptest.NewServer(h.Service.Handler())
	t.Cleanup(server.Close)
	_, token := h.LimitedAccount("reader", apitest.Grant{Capability: vocab.CapDomainView})
	v := newVisitor(t, &mailhostdtest.Server{URL: server.URL})
	opens := func(cookie *http.Cookie) bool {
		copied := &visitor{t, v.base, &http.Client{CheckRedirect: v.http.CheckRedirect}}
		resp, _ := copied.send(http.MethodGet, "/domains", nil, "Cookie", cookie.Name+"="+cookie.Value)
		return resp.StatusCode == http.StatusOK
	}
	first := v.signIn(token).Cookies()[0]
	second := v.signIn(token).Cookies()[0]
	assert.Check(t, !opens(first) && opens(second), "after the second sign-in the first session is open: %t, the second: %t", opens(first), opens(second))
	broken.Store(true)
	third := v.signIn(token).Cookies()[0]
	assert.Check(t, opens(third) && strings.Contains(log.String(), "can't be ended"), "with a broken disk nobody signs in, or the log lacks it: %s", log)
}

// TestConsoleRefusesOtherSites checks that a form of another site changes nothing, even with the visitor's cookie.
func TestConsoleRefusesOtherSites(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	c := s.As(t, owner)
	id, _ := c.LimitedAccount("spare", apitest.Grant{Capability: vocab.CapMailboxView})
	v := newVisitor(t, s)
	v.signIn(owner.Token)
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		for _, path := range []string{"/tokens/" + id + "/revoke", "/sign-in", "/sign-out"} {
			resp, _ := v.send(http.MethodPost, path, url.Values{"token": {owner.Token}}, headers...)
			if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
				t.Errorf("POST %s with %v: %s", path, headers, resp.Status)
			}
		}
	}
	v.get("/tokens/"+id+"/revoke", http.StatusOK)
	c.Get("/auth/service-accounts/"+id).Want(http.StatusOK).Is("revoked_at", nil)
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:x", "/../v1/x", "/%2e%2e/v1/x"} {
		resp, _ := v.send(http.MethodPost, "/sign-in", url.Values{"token": {owner.Token}, "next": {next}})
		to := resp.Header.Get("Location")
		assert.Check(t, inConsole(to), "next=%s leads to %s", next, to)
	}
	resp, _ := v.send(http.MethodPost, "/tokens/"+id+"/revoke", nil, "Sec-Fetch-Site", "same-origin")
	assert.Check(t, resp.StatusCode == http.StatusSeeOther, "a form of the console: %s", resp.Status)
}

// TestConsoleEndsWithItsToken checks that another server on the database accepts a session, that a
// revocation ends it at both servers, and that revoking one's own token signs out.
func TestConsoleEndsWithItsToken(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s, replica := mailhostdtest.Serve(t, database), mailhostdtest.Serve(t, database)
	id, token := s.As(t, owner).LimitedAccount("reader", apitest.Grant{Capability: vocab.CapDomainView})
	v := newVisitor(t, s)
	v.signIn(token)
	v.get("/domains", http.StatusOK)
	v.base = replica.URL + "/console"
	v.get("/domains", http.StatusOK)
	v.base = s.URL + "/console"
	c := replica.As(t, owner)
	c.Delete("/auth/service-accounts/" + id).Want(http.StatusNoContent)
	resp, _ := v.send(http.MethodGet, "/domains?search=x", nil)
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/console/sign-in?next=%2Fdomains%3Fsearch%3Dx&reason=token_revoked" || resp.Cookies()[0].MaxAge >= 0 {
		t.Errorf("after the revocation: %s, to %s", resp.Status, to)
	}
	page := v.get("/sign-in?reason=token_revoked", http.StatusOK)
	assert.Check(t, strings.Contains(page, "Your token was revoked."), "the sign-in page does not explain why")

	made := c.Post("/auth/service-accounts", apitest.Object{"name": "second"}).Want(http.StatusCreated)
	v.signIn(made.Str("token"))
	path := "/tokens/" + made.Str("id") + "/revoke"
	page = v.get(path, http.StatusOK)
	assert.Check(t, strings.Contains(page, "You are signed in with this token."), "nothing warns before one's own token is revoked")
	v.send(http.MethodPost, path, nil)
	resp, _ = v.send(http.MethodGet, "/tokens", nil)
	assert.Check(t, resp.StatusCode == http.StatusSeeOther, "after the own revocation: %s", resp.Status)
}
