package console_test

import (
	"html"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/browsertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// issued returns the flags of a server for sign-in at an issuer.
func issued(i *mailhostdtest.Issuer, more ...string) []string {
	return append([]string{"--oauth-issuer", i.URL, "--oauth-audience", "mailhost", "--oauth-client-id", "cli", "--oauth-console-client-id", "console", "--oauth-scopes", "openid,mail"}, more...)
}

// TestConsoleAtAnIssuer signs jane in at an issuer on another site, without JavaScript, and
// chooses between her accounts. The session ends with her grants.
func TestConsoleAtAnIssuer(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	database, owner := mailhostdtest.Initialize(t)
	second := mailhostdtest.InitializeIn(t, database)
	s := mailhostdtest.Serve(t, database, issued(i)...)
	i.Set(func() {
		i.Redirects = []string{s.URL + "/console/sign-in/return"}
		i.Claims = map[string]any{"name": "Jane Doe", "groups": []string{"engineers"}}
	})
	c := s.As(t, owner)
	c.Domain("example.com")
	c.CreateMailbox("example.com", "jane").Want(http.StatusCreated)

	b := browsertest.New(t, s.URL, i.URL)
	b.WithoutJavaScript(t)
	signIn := func(path, heading string) {
		b.Leads(t, chromedp.Navigate(s.URL+"/console"+path))
		b.Leads(t, b.Click(t, "link Sign in with "+strings.TrimPrefix(i.URL, "http://")))
		b.Do(t, b.Click(t, "link Log in as jane"))
		b.WaitFor(t, "heading "+heading)
	}
	signIn("", "Sign in")
	b.Has(t, "alert", "StaticText "+strings.TrimPrefix(i.URL, "http://")+" knows you, but no account here gives you any rights. Ask an administrator for a grant to one of your groups, or to you: jane.")

	grant := c.GrantTo("group", "engineers", apitest.Grant{Capability: vocab.CapMailboxView})
	signIn("/mailboxes?search=jane", "Mailboxes")
	b.Has(t, "link jane@example.com", "StaticText user", "StaticText jane", `StaticText \"Jane Doe\`)
	b.Leads(t, b.Click(t, "button Sign out"))

	s.As(t, second).GrantOwner("user", "jane")
	signIn("/mailboxes", "Accounts")
	b.Leads(t, b.Click(t, "button Open "+second.AccountID))
	b.Has(t, "heading Overview", "StaticText "+second.AccountID)
	b.Leads(t, chromedp.Navigate(s.URL+"/console/accounts"))
	b.Leads(t, b.Click(t, "button Open "+owner.AccountID))
	c.Delete("/auth/authorizations/" + grant).Want(http.StatusNoContent)
	b.Leads(t, chromedp.Navigate(s.URL+"/console/mailboxes"))
	b.Has(t, "heading Sign in", "StaticText The account no longer gives you any rights. Ask one of its administrators.")
	b.Clean(t)
}

// startAtIssuer begins a sign-in and returns the URL to which the issuer redirects back.
func (v *visitor) startAtIssuer(next string) string {
	v.Helper()
	resp, body := v.send(http.MethodGet, "/sign-in/start?next="+url.QueryEscape(next), nil)
	assert.Assert(v, resp.StatusCode == http.StatusSeeOther, "starting: %s\n%s", resp.Status, body)
	_, text := mailhostdtest.Send(v.T, http.DefaultClient, http.MethodGet, resp.Header.Get("Location"), "")
	back := regexp.MustCompile(`href="([^"]+)"`).FindStringSubmatch(text)
	assert.Assert(v, back != nil, "the issuer refuses: %s", text)
	_, path, _ := strings.Cut(html.UnescapeString(back[1]), "/console")
	return path
}

// TestConsoleRefusesForgedSignIns checks that only the issuer's own response, to the same browser and
// once, creates a session.
func TestConsoleRefusesForgedSignIns(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	database, owner := mailhostdtest.Initialize(t)
	const public = "http://mail.example.com"
	i.Set(func() { i.Redirects = []string{public + "/console/sign-in/return"} })
	s, replica := mailhostdtest.Serve(t, database, issued(i, "--public-url", public)...), mailhostdtest.Serve(t, database, issued(i, "--public-url", public)...)
	c := s.As(t, owner)
	c.GrantTo("user", "jane", apitest.Grant{Capability: vocab.CapDomainView})
	_, spare := c.LimitedAccount("spare", apitest.Grant{Capability: vocab.CapDomainView})

	// change returns the URL of a response with modified parameters.
	change := func(path string, pairs ...string) string {
		page, query, _ := strings.Cut(path, "?")
		q, err := url.ParseQuery(query)
		assert.NilError(t, err)
		for n := 0; n < len(pairs); n += 2 {
			q.Set(pairs[n], pairs[n+1])
		}
		return page + "?" + q.Encode()
	}
	for name, tt := range map[string]struct {
		attack func(v *visitor, back string) string
		status int
		says   string
	}{
		"another state":     {func(_ *visitor, back string) string { return change(back, "state", "guessed") }, 400, "begun in another browser"},
		"no state":          {func(_ *visitor, back string) string { return change(back, "state", "") }, 400, "begun in another browser"},
		"another issuer":    {func(_ *visitor, back string) string { return change(back, "iss", "https://evil.example") }, 400, "begun in another browser"},
		"another browser's": {func(*visitor, string) string { return newVisitor(t, s).startAtIssuer("") }, 400, "begun in another browser"},
		"no attempt":        {func(v *visitor, back string) string { v.http.Jar = nil; return back }, 400, "begun in another browser"},
		"a guessed code":    {func(_ *visitor, back string) string { return change(back, "code", "guessed") }, 403, "did not sign you in: &#34;invalid_grant&#34;"},
		"a refusal": {func(_ *visitor, back string) string {
			return change(back, "code", "", "error", "access_denied", "error_description", "<b>no</b>")
		}, 403, "did not sign you in: &#34;access_denied&#34;"},
		"another person's code": {func(_ *visitor, back string) string {
			other, _ := url.Parse(newVisitor(t, s).startAtIssuer(""))
			return change(back, "code", other.Query().Get("code"))
		}, 403, "invalid_grant"},
		"another API": {func(_ *visitor, back string) string {
			i.Set(func() { i.Claims = map[string]any{"aud": "other"} })
			return back
		}, 401, "its aud claim does not name it"},
		"an old token": {func(_ *visitor, back string) string {
			i.Set(func() { i.Claims = map[string]any{"exp": 1} })
			return back
		}, 401, "has expired"},
		"a person without rights": {func(_ *visitor, back string) string {
			i.Set(func() { i.Claims = map[string]any{"sub": "<john>"} })
			return back
		}, 403, "or to you: &lt;john&gt;"},
		"a large token": {func(_ *visitor, back string) string {
			var groups []string
			for range 200 {
				groups = append(groups, uuid.NewString())
			}
			i.Set(func() { i.Claims = map[string]any{"groups": groups} })
			return back
		}, 403, "too large for a browser’s cookie"},
		"an outage": {func(_ *visitor, back string) string { i.Set(func() { i.Down = true }); return back }, 503, "can’t be reached"},
	} {
		v := newVisitor(t, s)
		back := tt.attack(v, v.startAtIssuer(""))
		resp, body := v.send(http.MethodGet, back, nil)
		assert.Check(t, resp.StatusCode == tt.status && strings.Contains(body, tt.says), "%s: %s\n%s", name, resp.Status, body)
		again, _ := v.send(http.MethodGet, "/domains", nil)
		assert.Check(t, again.StatusCode == http.StatusSeeOther, "%s: the browser is signed in", name)
		i.Set(func() { i.Claims, i.Down = nil, false })
	}

	// A sign-in replaces an attacker's session in the browser, a code works once, and next redirects to
	// no other site. The second server finishes a sign-in of the first.
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:x", "/../v1/x", "/%2e%2e/v1/x", "/domains?search=x"} {
		v := newVisitor(t, s)
		planted := v.signIn(spare).Cookies()[0].Value
		back := v.startAtIssuer(next)
		v.base = replica.URL + "/console"
		resp, body := v.send(http.MethodGet, back, nil)
		to := resp.Header.Get("Location")
		if resp.StatusCode != http.StatusSeeOther || !inConsole(to) || (to == "/console/domains?search=x") != (next == "/domains?search=x") {
			t.Errorf("next=%s: %s, to %s\n%s", next, resp.Status, to, body)
		}
		for _, ck := range resp.Cookies() {
			if !ck.HttpOnly || ck.Value == planted || ck.SameSite != http.SameSiteLaxMode || strings.Contains(ck.Name, "attempt") != (ck.MaxAge < 0) {
				t.Errorf("the cookie %s", ck)
			}
		}
		page := v.get("", http.StatusOK)
		assert.Check(t, strings.Contains(page, ">jane<"), "the session is not jane's")
		page = v.get("/accounts", http.StatusOK)
		assert.Check(t, strings.Contains(page, `value="`+owner.AccountID) && strings.Contains(page, `href="/console/requests"`), "jane's accounts are\n%s", page)
		resp, _ = v.send(http.MethodGet, back, nil)
		assert.Check(t, resp.StatusCode == http.StatusBadRequest, "the response a second time: %s", resp.Status)
		for _, account := range []string{uuid.NewString(), ""} {
			resp, _ := v.send(http.MethodPost, "/accounts", url.Values{"account": {account}})
			assert.Check(t, resp.StatusCode == http.StatusNotFound, "entering the account %q: %s", account, resp.Status)
		}
		resp, _ = v.send(http.MethodPost, "/accounts", url.Values{"account": {owner.AccountID}}, "Sec-Fetch-Site", "cross-site")
		assert.Check(t, resp.StatusCode == http.StatusForbidden, "a form of another site: %s", resp.Status)
		resp, _ = v.send(http.MethodPost, "/accounts", url.Values{"account": {owner.AccountID}})
		assert.Check(t, resp.StatusCode == http.StatusSeeOther && len(resp.Cookies()) == 1 && inConsole(resp.Header.Get("Location")), "entering the account: %s, %v", resp.Status, resp.Header)
		v.get("/accounts", http.StatusOK)
	}

	i.Set(func() { i.Down = true })
	down := newVisitor(t, mailhostdtest.Serve(t, database, issued(i)...))
	resp, body := down.send(http.MethodGet, "/sign-in/start", nil)
	assert.Check(t, resp.StatusCode == http.StatusServiceUnavailable && strings.Contains(body, "or sign in with a token"), "during an outage: %s\n%s", resp.Status, body)
	down.signIn(owner.Token)
	down.get("/accounts", http.StatusNotFound)
}

// TestConsoleSparesTheIssuer checks that forged responses call the issuer once each, also beyond the
// limit of their address, which would lock out its other people, and at most ten times in a row during its outage. A client may send its secret in
// either form, and no page shows it.
func TestConsoleSparesTheIssuer(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	database, owner := mailhostdtest.Initialize(t)
	const public = "http://mail.example.com"
	i.Set(func() { i.Redirects, i.Secret = []string{public + "/console/sign-in/return"}, "client-secret" })
	flags := issued(i, "--public-url", public, "--oauth-console-client-secret", "client-secret")
	s := mailhostdtest.Serve(t, database, flags...)
	s.As(t, owner).GrantTo("user", "jane", apitest.Grant{Capability: vocab.CapDomainView})
	served := func(path string) (n int) { i.Set(func() { n = i.Served[path] }); return n }

	for _, inForm := range []bool{false, true} {
		i.Set(func() { i.SecretInForm = inForm })
		v := newVisitor(t, s)
		resp, body := v.send(http.MethodGet, v.startAtIssuer(""), nil)
		assert.Check(t, resp.StatusCode == http.StatusSeeOther, "signing in with the secret in a form: %t: %s\n%s", inForm, resp.Status, body)
	}
	i.Set(func() { i.SecretInForm = false })
	limited := mailhostdtest.Serve(t, database, append(flags, "--rate-limit", "3/1h")...)
	stranger := newVisitor(t, limited)
	var statuses [5]int
	calls := served("/token")
	for n := range statuses {
		back, err := url.Parse(stranger.startAtIssuer(""))
		assert.NilError(t, err)
		resp, body := stranger.send(http.MethodGet, back.Path+"?code=invented&state="+back.Query().Get("state"), nil)
		statuses[n] = resp.StatusCode
		assert.Check(t, strings.Contains(body, "[redacted]") == (resp.StatusCode == http.StatusForbidden) && !strings.Contains(body, "client-secret"), "%s", body)
	}
	if calls = served("/token") - calls; statuses != [5]int{403, 403, 403, 403, 403} || calls != 5 {
		t.Errorf("five invented codes: %d, %d calls of the issuer", statuses, calls)
	}

	i.Set(func() { i.Down = true })
	down := newVisitor(t, mailhostdtest.Serve(t, database, append(flags, "--rate-limit", "3/1h")...))
	calls = served("/.well-known/openid-configuration")
	for n := range 20 {
		resp, _ := down.send(http.MethodGet, "/sign-in/start", nil)
		assert.Check(t, resp.StatusCode == http.StatusTooManyRequests || n < 3 && resp.StatusCode == http.StatusServiceUnavailable, "attempt %d: %s", n, resp.Status)
	}
	calls = served("/.well-known/openid-configuration") - calls
	assert.Check(t, calls <= 12, "%d calls of the issuer for twenty attempts during its outage", calls) // ten, and one every two seconds
}

// TestConsoleLimitsCallsOfTheIssuer checks the limits without any setting: a made-up cookie makes no call of the
// issuer, invented codes make few, and many people sign in at once through one proxy, also from an address with
// failures.
func TestConsoleLimitsCallsOfTheIssuer(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	const public = "http://mail.example.com"
	i.Set(func() { i.Redirects = []string{public + "/console/sign-in/return"} })
	s, owner := mailhostdtest.Start(t, issued(i, "--public-url", public)...)
	s.As(t, owner).GrantTo("user", "jane", apitest.Grant{Capability: vocab.CapDomainView})
	served := func() (n int) { i.Set(func() { n = i.Served["/token"] }); return n }

	stranger := newVisitor(t, s)
	for _, cookie := range []string{"state=guessed&verifier=" + strings.Repeat("v", 43), "sign_in." + strings.Repeat("A", 80), strings.Repeat("x", 3000)} {
		for range 100 {
			resp, _ := stranger.send(http.MethodGet, "/sign-in/return?code=invented&state=guessed", nil, "Cookie", "mailhost_console_attempt="+cookie)
			assert.Assert(t, resp.StatusCode == http.StatusBadRequest, "a made-up cookie: %s", resp.Status)
		}
	}
	assert.Check(t, served() == 0, "%d calls of the issuer by made-up cookies", served())

	// A hundred people come back from the issuer at the same time.
	statuses := make(chan int)
	for range 100 {
		v := newVisitor(t, s)
		back := v.startAtIssuer("")
		go func() {
			resp, err := v.http.Get(v.base + back)
			if err != nil {
				statuses <- 0
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	for range 100 {
		status := <-statuses
		assert.Check(t, status == http.StatusSeeOther, "one of a hundred people who sign in at once: %d", status)
	}

	back := stranger.startAtIssuer("")
	at, err := url.Parse(stranger.base)
	assert.NilError(t, err)
	attempt := stranger.http.Jar.Cookies(at)[0].String()
	stranger.http.Jar = nil
	state := back[strings.Index(back, "state="):]
	calls, begun := served(), time.Now()
	for range 70 { // with one sealed cookie
		stranger.send(http.MethodGet, "/sign-in/return?code=invented&"+state, nil, "Cookie", attempt)
	}
	made, most := served()-calls, 61+6*time.Since(begun).Seconds()
	assert.Check(t, made > 60 && float64(made) <= most, "70 invented codes: %d calls of the issuer in %s", made, time.Since(begun))
	// A person signs in from the same address, and from another one.
	elsewhere := newVisitor(t, s)
	elsewhere.http.Transport = &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}
	elsewhere.get(elsewhere.startAtIssuer(""), http.StatusSeeOther)
	neighbour := newVisitor(t, s)
	neighbour.get(neighbour.startAtIssuer(""), http.StatusSeeOther)
}

// TestConsoleShowsWhoHoldsAGrant checks that a person with the name of the built-in owner is not mistaken for it.
func TestConsoleShowsWhoHoldsAGrant(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	const public = "http://mail.example.com"
	i.Set(func() {
		i.Redirects = []string{public + "/console/sign-in/return"}
		i.Claims = map[string]any{"sub": "mallory", "name": "Built-in owner"}
	})
	s, owner := mailhostdtest.Start(t, issued(i, "--public-url", public)...)
	c := s.As(t, owner)
	grant := c.GrantOwner("user", "mallory")
	spare, _ := c.LimitedAccount("spare")
	mallory := newVisitor(t, s)
	mallory.get(mallory.startAtIssuer(""), http.StatusSeeOther)
	resp, body := mallory.send(http.MethodPost, "/tokens/"+spare+"/revoke", nil)
	assert.Assert(t, resp.StatusCode == http.StatusSeeOther, "the change that names mallory in the audit log: %s\n%s", resp.Status, body)

	v := newVisitor(t, s)
	v.signIn(owner.Token)
	const name = `</span> <bdi>&#34;Built-in owner&#34;</bdi>`
	owned := api.DerivedID(owner.AccountID, "user:owner")
	page := v.get("/grants", http.StatusOK)
	for _, subject := range []string{`user <span class="code">mallory`, `user <span class="code uuid" title="` + owned + `">` + owned} {
		assert.Check(t, strings.Contains(page, subject+name), "the grants don’t show %s:\n%s", subject, page)
	}
	for _, path := range []string{"/grants/" + grant + "/revoke", "/grants?type=user&subject=mallory"} {
		assert.Check(t, is.Contains(v.get(path, http.StatusOK), `user <span class="code">mallory`+name), "%s does not show mallory’s id", path)
	}
}
