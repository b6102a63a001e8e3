package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// everywhere sends a request with a credential to every operation, and fails the test
// unless each response is the same 401.
func everywhere(t *testing.T, c *apitest.Client, authorization string, problem, challenge string) {
	t.Helper()
	for _, spec := range api.Specs() {
		a := newRequest(t, spec).send(c, "Authorization", authorization).Refused(401, "header.Authorization "+problem)
		if got := a.Header.Get("WWW-Authenticate"); got != challenge && (challenge == "Bearer" || !strings.HasPrefix(got, challenge)) {
			t.Fatalf("%s: WWW-Authenticate is %q; want %q", spec.ID, got, challenge)
		}
	}
}

func TestCredentials(t *testing.T) {
	h := apitest.New(t)
	expires := start.Add(time.Hour)
	account := h.Post("/auth/service-accounts", obj{"name": "ci", "expires_at": expires.Format(time.RFC3339Nano)}).Want(201)
	token := account.Str("token")
	other := apitest.New(t).Post("/auth/service-accounts", obj{"name": "elsewhere"}).Want(201).Str("token")
	anonymous := h.As("")
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
			everywhere(t, anonymous.In(t), tt.authorization, tt.problem, tt.challenge)
		})
	}

	for _, authorization := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token} {
		anonymous.Do("GET", "/mailboxes", nil, "Authorization", authorization).Want(200)
	}

	h.Clock.Advance(time.Hour - time.Microsecond)
	h.As(token).Get("/mailboxes").Want(200)
	h.Clock.Advance(time.Microsecond)
	everywhere(t, anonymous, "Bearer "+token, "token_expired", invalid)

	h.Delete("/auth/service-accounts/" + account.Str("id")).Want(204)
	everywhere(t, anonymous, "Bearer "+token, "token_revoked", invalid)
}

// TestCredentialNeedsItsSecret checks that a public id with the secret of another service
// account is rejected.
func TestCredentialNeedsItsSecret(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "a"}).Want(201)
	b := h.Post("/auth/service-accounts", obj{"name": "b"}).Want(201)
	body := "mhsa_" + a.Str("token_public_id") + "_" + strings.Split(b.Str("token"), "_")[2]
	h.As(body).Get("/mailboxes").Refused(401, "header.Authorization invalid_token")
	forged := strings.TrimSuffix(body, body[len(body)-7:])
	h.As(forged+tokenChecksum(forged)).Get("/mailboxes").Refused(401, "header.Authorization invalid_token")
}

// TestCredentialOfAnotherAccount checks that a credential gets the same 403 for every
// other account, whether or not the account exists.
func TestCredentialOfAnotherAccount(t *testing.T) {
	h := apitest.New(t)
	h.Owner(t, nobody)
	other := h.As(h.Owner(t, nobody).Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	for _, account := range []string{accountID, strings.ToUpper(accountID), "22222222-2222-4333-8444-555555555555"} {
		for _, spec := range api.Specs() {
			r := newRequest(t, spec)
			r.path["account_id"] = account
			a := r.send(other).Refused(403, "header.Authorization permission_denied")
			if spec.Capability != "" {
				a.Says(string(spec.Capability))
			}
		}
	}
}

// TestAccountIDIsAnyUUID checks that the account id is accepted in upper case and without
// hyphens.
func TestAccountIDIsAnyUUID(t *testing.T) {
	h := apitest.New(t)
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	for _, id := range []string{strings.ToUpper(accountID), strings.ReplaceAll(accountID, "-", "")} {
		c.Account = id
		c.Get("").Want(200).Is("id", accountID)
	}
}

// TestTwoCredentials checks that two Authorization headers are rejected, because a proxy
// and the service might use different ones.
func TestTwoCredentials(t *testing.T) {
	h := apitest.New(t)
	token, err := h.Service.IssueOwnerToken(t.Context(), accountID, "t")
	assert.NilError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+"/mailboxes", nil)
	r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token}
	w := httptest.NewRecorder()
	h.Service.Handler().ServeHTTP(w, r)
	assert.Check(t, w.Code == 401 && strings.Contains(w.Body.String(), "invalid_token"), "%d %s", w.Code, w.Body)
}
