package apiserver_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestNewNeedsAStore(t *testing.T) {
	_, err := apiserver.New(apiserver.Options{})
	assert.Check(t, err != nil, "New accepts options without a store")
}

// TestOverASocket checks that responses over a socket equal those of the in-process
// client.
func TestOverASocket(t *testing.T) {
	h := apitest.New(t)
	token := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token")
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	server := httptest.NewServer(h.Service.Handler())
	defer server.Close()
	do := func(method, path, contentType string, body io.Reader) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/v1/public/accounts/"+accountID+path, body)
		assert.NilError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", contentType)
		client := server.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Do(r)
		assert.NilError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		assert.NilError(t, err)
		return resp.StatusCode, resp.Header, string(data)
	}
	chunked := func(s string) io.Reader { return io.MultiReader(strings.NewReader(s)) }
	for _, tt := range []struct {
		method, path, contentType string
		body                      io.Reader
		status                    int
		words                     string
	}{
		{"GET", "/mailboxes", "", nil, 200, `"total":1`},
		{"GET", "/mailboxes/jane@example.com", "", nil, 200, `"local_part":"jane"`},
		{"GET", "/mailboxes/jane%40example.com", "", nil, 200, `"local_part":"jane"`},
		{"GET", "//mailboxes", "", nil, 404, "not_found"},
		{"GET", "/x/../mailboxes", "", nil, 404, "not_found"},
		{"POST", "/mailboxes/export", "application/json", chunked(`{}`), 200, "jane@example.com"},
		{"POST", "/workspaces", "application/json", chunked(`{"name":"x"}`), 201, `"name":"x"`},
		{"POST", "/workspaces", "application/json", chunked(""), 422, `["body"]`},
		{"POST", "/workspaces", "application/json", bytes.NewReader(make([]byte, 3<<20)), 413, "payload_too_large"},
		{"POST", "/workspaces", "application/json", chunked(strings.Repeat(" ", 3<<20)), 413, "payload_too_large"},
	} {
		status, header, body := do(tt.method, tt.path, tt.contentType, tt.body)
		if status != tt.status || !strings.Contains(body, tt.words) || header.Get("X-Request-Id") == "" || header.Get("Location") != "" {
			t.Errorf("%s %s: %d %v %s; want %d %s", tt.method, tt.path, status, header, body, tt.status, tt.words)
		}
		want := "application/json"
		assert.Check(t, status < 400 || header.Get("Content-Type") == want, "%s %s is %q", tt.method, tt.path, header.Get("Content-Type"))
	}
}

// TestLog checks that the log contains a line for each request and no secrets.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	h := apitest.New(t, func(o *apiserver.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	token := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token")
	generated := h.As(token).Post("/credentials", obj{"name": "a", "generate": true}).Want(201).Str("generated_secret")
	h.As(token).PostKeyed(key, "/credentials", obj{"name": "b", "value": "a-secret-value"}).Want(201).Is("generated_secret", nil)
	h.As(token).Get("/mailboxes?search=a-secret-term")
	h.As(token + "x").Get("/mailboxes").Want(401)
	visit(t, h, "GET", "http://mailhost.test"+apiserver.HealthPath+"live") // only the debug log contains a line for it
	for _, secret := range []string{token, strings.Split(token, "_")[2], generated, "a-secret-value", "a-secret-term", key} {
		assert.Check(t, !strings.Contains(log.String(), secret), "the log contains %q: %s", secret, &log)
	}
	n := strings.Count(log.String(), "msg=request")
	assert.Check(t, n == 5, "the log has %d lines; want 5: %s", n, &log)
	for _, want := range []string{`route="GET /v1/public/accounts/{account_id}/mailboxes"`, "status=201", "status=401"} {
		assert.Check(t, strings.Contains(log.String(), want), "the log has no %s: %s", want, &log)
	}
}

func TestEnsureAccount(t *testing.T) {
	h := apitest.New(t)
	for _, id := range []string{accountID, "", "{11111111-2222-4333-8444-555555555555}"} {
		got, err := h.Service.EnsureAccount(t.Context(), id)
		assert.Check(t, got == accountID && err == nil, "EnsureAccount(%q) is %q, %v", id, got, err)
	}
	_, err := h.Service.EnsureAccount(t.Context(), "x")
	assert.Check(t, err != nil, "EnsureAccount accepts x")
	_, err = h.Service.EnsureAccount(t.Context(), nobody)
	assert.Check(t, err)
	got, err := h.Service.EnsureAccount(t.Context(), "")
	assert.Check(t, err != nil, "one of two accounts was chosen: %s", got)
}

// TestCancelPlanReplay checks that a retry of a cancellation gets the original response.
func TestCancelPlanReplay(t *testing.T) {
	h := apitest.New(t)
	known := h.Limited(t, apitest.Grant{Capability: vocab.CapWorkspaceManage})
	known.Post("/workspaces", obj{"name": "w"}).Want(201)
	h.PostKeyed(otherKey, "/billing/change-plan", obj{"effective_date": "2026-03-14T00:00:00Z"}).Refused(422, "body.effective_date value_error")
	first := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	again := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	assert.Check(t, again.Replayed() && string(again.Raw) == string(first.Raw), "%s; want a replay of %s", again, first)
	h.PostKeyed(key, "/billing/cancel-plan", obj{}).Refused(422, "header.Idempotency-Key value_error")
	h.PostKeyed(otherKey, "/billing/cancel-plan", obj{"cancel_immediately": true}).Refused(403, "path.account_id account_cancelled")
	h.PostKeyed("x", "/workspaces", obj{"name": "x"}).Want(422)
	h.PostKeyed(otherKey, "/workspaces", obj{"name": "x"}).Refused(403, "path.account_id account_cancelled")
	known.Post("/workspaces", obj{}).Refused(403, "path.account_id account_cancelled") // although the cache contains the account as it was
	h.Post("/workspaces", obj{}).Refused(403, "path.account_id account_cancelled")     // there is no response to replay
	h.Do("PATCH", "/mailboxes/x", obj{"first_name": 1}, "Idempotency-Key", otherKey).Refused(403, "path.account_id account_cancelled")
}

func TestCancelPlanInDecember(t *testing.T) {
	h := apitest.New(t)
	h.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy", "effective_date": "2026-12-31T00:00:00Z"}).Want(200)
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Sub(start))
	h.Post("/billing/cancel-plan", obj{}).Want(200).Is("effective_at", "2027-01-01T00:00:00.000000Z", "previous_plan_id", "smtp_per_proxy")
	h.Get("").Want(200).Is("updated_at", "2026-12-31T23:59:59.000000Z", "plan_id", "smtp_per_proxy")
}
