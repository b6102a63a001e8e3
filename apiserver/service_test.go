package apiserver_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
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
	h.As(token).PostKeyed(key, "/credentials", obj{"name": "b", "value": "a-secret-value"}).Want(201)
	h.As(token).Get("/mailboxes?search=a-secret-term")
	h.As(token + "x").Get("/mailboxes").Want(401)
	for _, secret := range []string{token, strings.Split(token, "_")[2], generated, "a-secret-value", "a-secret-term", key} {
		assert.Check(t, !strings.Contains(log.String(), secret), "the log contains %q: %s", secret, &log)
	}
	n := strings.Count(log.String(), "msg=request")
	assert.Check(t, n == 5, "the log has %d lines; want 5: %s", n, &log)
	for _, want := range []string{`route="GET /v1/public/accounts/{account_id}/mailboxes"`, "status=201", "status=401"} {
		assert.Check(t, strings.Contains(log.String(), want), "the log has no %s: %s", want, &log)
	}
}
