package control_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

func TestClock(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	ahead := time.Until(h.plane.Clock.Now())
	assert.Check(t, ahead >= 71*time.Hour && ahead <= 72*time.Hour, "the clock is %s ahead", ahead)
	result := h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"2030-01-01T00:00:00Z"}`)
	assert.Check(t, strings.HasPrefix(result["now"].(string), "2030-01-01T00:00:"), "set: %v", result)
	result = h.want(http.StatusOK, http.MethodGet, "/clock", "")
	assert.Check(t, strings.HasPrefix(result["now"].(string), "2030-01-01T"), "clock: %v", result)
	for _, body := range []string{`{}`, ``, `{"advance":"1h","set":"2030-01-01T00:00:00Z"}`, `{"advance":1}`, `{"advanced":"1h"}`, `no`} {
		result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body)
		assert.Check(t, result["error"] != "", "%s: %v", body, result)
	}
}

// TestClockBounds checks that the clock rejects times out of range and does not change.
func TestClockBounds(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"2199-12-31T00:00:00Z"}`)
	for _, body := range []string{
		`{"set":"9999-12-31T23:59:59Z"}`, `{"set":"2200-01-01T00:00:00Z"}`, `{"set":"1969-12-31T23:59:59Z"}`, `{"set":"0000-01-01T00:00:00Z"}`,
		`{"advance":"48h"}`, `{"advance":"2562047h47m16.854775807s"}`, `{"advance":"-2562047h47m16s"}`,
	} {
		result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body)
		assert.Check(t, strings.Contains(result["error"].(string), "1970 to 2199"), "%s: %v", body, result)
		assert.Assert(t, is.Equal(h.plane.Clock.Now().UTC().Format(time.DateOnly), "2199-12-31"), "%s: the clock shows", body)
	}
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"1970-01-01T00:00:00Z"}`)
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", `{"advance":"-1h"}`)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	for _, step := range []time.Duration{math.MaxInt64, math.MinInt64} {
		err := h.plane.Clock.Advance(step)
		assert.Check(t, err != nil, "%s is accepted", step)
	}
}

func TestFixture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	fixture, err := os.ReadFile("../testdata/fixture.json")
	assert.NilError(t, err)
	text := strings.ReplaceAll(string(fixture), "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", "7c9e6679-7425-40de-944b-e07fc1f90ae7")
	result := h.want(http.StatusOK, http.MethodPost, "/fixture", text)
	assert.Check(t, len(result["accounts"].([]any)) == 1, "fixture: %v", result)
	result = h.want(http.StatusOK, http.MethodGet, "/outbox", "")
	assert.Check(t, len(result["items"].([]any)) == 1, "outbox: %v", result)
	a := h.inProcess.Purchase(workspaceID, "taken.com").Want(http.StatusOK)
	assert.Check(t, strings.Contains(string(a.Raw), "unavailable"), "the fixture's registrar has no effect: %s", a)
	result = h.want(http.StatusUnprocessableEntity, http.MethodPost, "/fixture", `{"accounts":[{}]}`)
	assert.Check(t, result["error"] != "", "bad fixture: %v", result)
	dumped := h.raw(http.MethodGet, "/fixture", "").Body.String()
	h.want(http.StatusOK, http.MethodPost, "/reset", "")
	h.want(http.StatusOK, http.MethodPost, "/fixture", dumped)
	assert.Check(t, is.Equal(h.raw(http.MethodGet, "/fixture", "").Body.String(), dumped), "second dump")
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	result := h.want(http.StatusConflict, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`)
	assert.Check(t, strings.Contains(result["error"].(string), accountID), "%v", result)
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"account_id":"x"}`)
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"id":"x"}`)
	for _, name := range []string{"account_id", "token"} {
		result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"`+name+`":""}`)
		assert.Check(t, is.Contains(result["error"], name+": is empty"))
	}
	for _, body := range []string{``, `{}`} {
		made := h.want(http.StatusCreated, http.MethodPost, "/accounts", body)
		assert.Check(t, made["account_id"] != accountID && made["token"] != "", "%v", made)
	}
	h.want(http.StatusOK, http.MethodPost, "/reset", "")
	made := h.want(http.StatusCreated, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`)
	c := h.network
	a := c.do(http.MethodGet, "/workspaces", "")
	assert.Check(t, a.status == http.StatusUnauthorized, "the old token: %+v", a)
	c.Token = made["token"].(string)
	a = c.must(http.MethodGet, "/workspaces", "")
	assert.Check(t, strings.Contains(a.body, made["workspace_id"].(string)), "%+v", a)
}

func TestPayments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.want(http.StatusOK, http.MethodPost, "/fixture", `{"registrar":{"payment_needed":true},"accounts":[]}`)
	var bought struct {
		Batch string `json:"purchase_batch_id"`
	}
	h.network.Purchase(workspaceID, "a.com").Want(http.StatusOK).Into(&bought)
	result := h.want(http.StatusOK, http.MethodPost, "/payments/"+bought.Batch, "")
	d := result["domains"].([]any)[0].(map[string]any)
	assert.Check(t, d["name"] == "a.com" && d["status"] == "active" && d["account_id"] == accountID, "%v", result)
	h.want(http.StatusNotFound, http.MethodPost, "/payments/"+accountID, "")
}

func TestListAndUnknownPaths(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	routes := h.want(http.StatusOK, http.MethodGet, "/", "")["routes"].([]any)
	assert.Check(t, len(routes) >= 15, "%d routes", len(routes))
	for _, r := range routes {
		route := r.(map[string]any)
		assert.Check(t, route["method"] != "" && route["path"] != "" && route["about"] != "", "%v", route)
	}
	result := h.want(http.StatusNotFound, http.MethodGet, "/nowhere", "")
	assert.Check(t, result["error"] != "", "%v", result)
	w := h.raw(http.MethodPut, "/faults", "")
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "DELETE, GET, HEAD, POST" || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("PUT /faults: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestWebPagesAreRejected(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{"/clock", "/reset", "/faults", "/accounts"} {
		status, result := h.call(http.MethodPost, path, `{}`, "Origin", "https://evil.example")
		assert.Check(t, status == http.StatusForbidden && result["error"] != "", "a request from a page: %d %v", status, result)
	}
	h.want(http.StatusOK, http.MethodGet, "/healthz", "")
}

// TestDNSRebinding checks the Host header of requests. To a browser, a page is of the same origin
// if its host name resolves to this machine.
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	var plane control.Plane
	server := httptest.NewServer(plane.Handler(nil))
	t.Cleanup(server.Close)
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LOCALHOST:9000": 200, "127.0.0.1": 200, "[::1]:9000": 200, "evil.example": 403, "evil.example:9000": 403, "localhost.evil.example": 403,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/healthz", nil)
		assert.NilError(t, err)
		r.Host = host
		resp, err := server.Client().Do(r)
		assert.NilError(t, err)
		if _ = resp.Body.Close(); resp.StatusCode != want {
			t.Errorf("%q: %d; want %d", host, resp.StatusCode, want)
		}
	}
}
