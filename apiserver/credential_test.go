package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// everywhere sends a request with a credential to every operation, and ends the
// test unless each is refused in the same way.
func everywhere(t *testing.T, c *client, authorization string, problem, challenge string) {
	t.Helper()
	for _, spec := range api.Specs() {
		a := newRequest(t, spec).send(c, "Authorization", authorization).refused(401, "header.Authorization "+problem)
		if got := a.header.Get("WWW-Authenticate"); got != challenge && (challenge == "Bearer" || !strings.HasPrefix(got, challenge)) {
			t.Fatalf("%s: WWW-Authenticate is %q; want %q", spec.ID, got, challenge)
		}
	}
}

func TestCredentials(t *testing.T) {
	h := newHarness(t)
	expires := start.Add(time.Hour)
	account := h.post("/auth/service-accounts", obj{"name": "ci", "expires_at": expires.Format(time.RFC3339Nano)}).want(201)
	token := account.str("token")
	other := newHarness(t).post("/auth/service-accounts", obj{"name": "elsewhere"}).want(201).str("token")
	anonymous := h.as("")
	last := token[len(token)-1:]
	flipped := map[bool]string{true: "b", false: "a"}[last == "a"]
	const invalid = `Bearer error="invalid_token"`
	for _, tt := range []struct{ name, authorization, problem, challenge string }{
		{"none", "", "not_authenticated", "Bearer"},
		{"no token", "Bearer", "not_authenticated", "Bearer"},
		{"blank token", "Bearer  ", "not_authenticated", "Bearer"},
		{"another scheme", "Basic dXNlcjpwYXNz", "not_authenticated", "Bearer"},
		{"no scheme", token, "not_authenticated", "Bearer"},
		{"malformed", "Bearer abc", "invalid_token", invalid},
		{"wrong checksum", "Bearer " + token[:len(token)-1] + flipped, "invalid_token", invalid},
		{"cut off", "Bearer " + token[:len(token)-1], "invalid_token", invalid},
		{"another prefix", "Bearer mhsb" + token[4:], "invalid_token", invalid},
		{"another case", "Bearer " + strings.ToUpper(token), "invalid_token", invalid},
		{"unknown", "Bearer " + other, "invalid_token", invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			everywhere(t, anonymous.in(t), tt.authorization, tt.problem, tt.challenge)
		})
	}

	for _, authorization := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token} {
		anonymous.do("GET", "/mailboxes", nil, "Authorization", authorization).want(200)
	}

	h.clock.Advance(time.Hour - time.Microsecond)
	h.as(token).get("/mailboxes").want(200)
	h.clock.Advance(time.Microsecond)
	everywhere(t, anonymous, "Bearer "+token, "token_expired", invalid)

	h.delete("/auth/service-accounts/" + account.str("id")).want(204)
	everywhere(t, anonymous, "Bearer "+token, "token_revoked", invalid)
}

// A public id alone, or one with another secret, opens nothing.
func TestCredentialSecretCounts(t *testing.T) {
	h := newHarness(t)
	a := h.post("/auth/service-accounts", obj{"name": "a"}).want(201)
	b := h.post("/auth/service-accounts", obj{"name": "b"}).want(201)
	body := "mhsa_" + a.str("token_public_id") + "_" + strings.Split(b.str("token"), "_")[2]
	h.as(body).get("/mailboxes").refused(401, "header.Authorization invalid_token")
	forged := strings.TrimSuffix(body, body[len(body)-7:])
	h.as(forged+tokenChecksum(forged)).get("/mailboxes").refused(401, "header.Authorization invalid_token")
}

// Another account's credential is refused before anything of the account is
// told, whether or not the account exists.
func TestCredentialOfAnotherAccount(t *testing.T) {
	h := newHarness(t)
	h.owner(t, nobody)
	other := h.as(h.owner(t, nobody).post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	for _, account := range []string{accountID, strings.ToUpper(accountID), "22222222-2222-4333-8444-555555555555"} {
		for _, spec := range api.Specs() {
			r := newRequest(t, spec)
			r.path["account_id"] = account
			a := r.send(other).refused(403, "header.Authorization permission_denied")
			if spec.Capability != "" {
				a.says(string(spec.Capability))
			}
		}
	}
	// In its own account nothing of the first one can be reached.
	domain := h.domain("example.com")
	mailbox := h.mailbox(domain, "jane")
	other.account = nobody
	for path, problem := range map[string]string{
		"/domains/" + domain:                                        "path.domain not_found",
		"/domains/example.com":                                      "path.domain not_found",
		"/mailboxes/" + mailbox:                                     "path.mailbox not_found",
		"/mailboxes/jane@example.com":                               "path.mailbox not_found",
		"/credentials/" + h.password("p", nil):                      "path.credential_id not_found",
		"/forwarding/" + h.forwarding("x@example.net", nil):         "path.forwarding_id not_found",
		"/workspaces/" + h.defaultWorkspace():                       "path.workspace_id not_found",
		"/dns-records/" + idOf(h.get("/dns-records"), "items.0.id"): "path.dns_record_id not_found",
		"/dedicated-ips/" + h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201).str("id"): "path.dedicated_ip_id not_found",
	} {
		h.get(path).want(200)
		other.get(path).refused(404, problem)
		if !strings.HasPrefix(path, "/workspaces") {
			other.delete(path).refused(404, problem)
		}
	}
	for _, list := range []string{"/mailboxes", "/domains", "/credentials", "/forwarding", "/dedicated-ips", "/dns-records"} {
		other.get(list).want(200).is("total", 0)
	}
}

// An upper-case account id is the same account.
func TestAccountIDIsAnyUUID(t *testing.T) {
	h := newHarness(t)
	c := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	for _, id := range []string{strings.ToUpper(accountID), strings.ReplaceAll(accountID, "-", "")} {
		c.account = id
		c.get("").want(200).is("id", accountID)
	}
}

// An intermediary that looks at the last of two would see another credential.
func TestTwoCredentials(t *testing.T) {
	h := newHarness(t)
	token, err := h.svc.IssueOwnerToken(t.Context(), accountID, "t")
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+"/mailboxes", nil)
	r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token}
	w := httptest.NewRecorder()
	h.svc.Handler().ServeHTTP(w, r)
	if w.Code != 401 || !strings.Contains(w.Body.String(), "invalid_token") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
