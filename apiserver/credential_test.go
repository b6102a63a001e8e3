package apiserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
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

// TestCredentialOfAnotherAccount checks that a credential gets the same 403 for every other
// account, existing or not.
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

// TestTwoCredentials checks that two Authorization headers are rejected, because a proxy and the
// service might use different headers.
func TestTwoCredentials(t *testing.T) {
	h := apitest.New(t)
	token, err := h.Service.IssueOwnerToken(t.Context(), "urn:uuid:"+accountID, "t")
	assert.NilError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+"/mailboxes", nil)
	r.Header["Authorization"] = []string{"Bearer " + token, "Bearer " + token}
	w := httptest.NewRecorder()
	h.Service.Handler().ServeHTTP(w, r)
	assert.Check(t, w.Code == 401 && strings.Contains(w.Body.String(), "invalid_token"), "%d %s", w.Code, w.Body)
}

func TestServiceAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "ci", "expires_at": "2027-01-01T01:00:00+01:00"}).Want(201)
	token := a.Str("token")
	parts := regexp.MustCompile(`^mhsa_([a-z2-7]+)_([a-z2-7]{52})([a-z2-7]{7})$`).FindStringSubmatch(token)
	assert.Assert(t, parts != nil, "the token is %q", token)
	a.Is("token_public_id", parts[1], "token_last4", token[len(token)-4:])
	assert.Check(t, is.Equal(tokenChecksum(strings.TrimSuffix(token, parts[3])), parts[3]), "the checksum")
	again := h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	assert.Check(t, again.Str("token") != token && again.Str("token_public_id") != parts[1], "two tokens are the same")
}

// TestLastUsed checks that the use of a token is written once a minute, in the background.
func TestLastUsed(t *testing.T) {
	s := newFaulty(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	c, id := h.As(a.Str("token")), a.Str("id")
	var updates atomic.Int32
	count := hook(func(context.Context) error { updates.Add(1); return nil })
	s.update.Store(&count)
	for range 4 {
		c.Get("/mailboxes").Want(200)
		h.Clock.Advance(10 * time.Second)
	}
	c.Get("/mailboxes").Want(200) // in the next minute
	const last = "2026-03-14T15:10:00.000000Z"
	h.Get("/auth/service-accounts/"+id).Is("last_used_at", last)
	h.Get("/auth/service-accounts").Is("items.0.last_used_at", last)
	err := h.Service.Close()
	assert.Check(t, err == nil && updates.Load() == 2, "five reads in two minutes caused %d writes, %v", updates.Load(), err)
}

// TestReadsDontWaitForWrites checks that a read does not wait for the write lock, not even the
// first read with a token.
func TestReadsDontWaitForWrites(t *testing.T) {
	s := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.Update(context.WithoutCancel(t.Context()), func(store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	apitest.Receive(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // a read waiting for the lock would time out
	defer cancel()
	a, err := c.Try(ctx, "GET", "/mailboxes", nil)
	close(end)
	assert.Check(t, apitest.Receive(t, ended))
	assert.NilError(t, err)
	a.Want(200)
}

// TestServiceAccountOutlivesNoCreator checks that a service account expires no later than its
// creator.
func TestServiceAccountOutlivesNoCreator(t *testing.T) {
	h := apitest.New(t)
	const earlier, latest, later = "2027-01-01T00:00:00.000000Z", "2027-01-02T00:00:00.000000Z", "2027-01-02T00:00:00.000001Z"
	_, c := h.ServiceAccount(h.Client, obj{"name": "ci", "expires_at": latest})
	c.Post("/auth/service-accounts", obj{"name": "by default"}).Want(201).Is("expires_at", latest)
	for _, at := range []string{earlier, latest} {
		c.Post("/auth/service-accounts", obj{"name": at, "expires_at": at}).Want(201).Is("expires_at", at)
	}
	c.Post("/auth/service-accounts", obj{"name": "later", "expires_at": later}).Refused(422, "body.expires_at value_error")
	long, _ := h.ServiceAccount(h.Client, obj{"name": "long", "expires_at": later})
	c.Post("/auth/authorizations", obj{"grant_kind": "account_owner", "subject_type": "service_account", "subject_id": long}).Refused(403, "header.Authorization permission_denied")
	_, c = h.ServiceAccount(h.Client, obj{"name": "for ever"})
	c.Post("/auth/service-accounts", obj{"name": "later", "expires_at": later}).Want(201).Is("expires_at", later)
	c.Post("/auth/service-accounts", obj{"name": "for ever too"}).Want(201).Is("expires_at", nil)
}
