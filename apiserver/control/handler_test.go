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

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
)

func TestClock(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	if ahead := time.Until(h.plane.Clock.Now()); ahead < 71*time.Hour || ahead > 72*time.Hour {
		t.Errorf("the clock is %s ahead", ahead)
	}
	if result := h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"2030-01-01T00:00:00Z"}`); !strings.HasPrefix(result["now"].(string), "2030-01-01T00:00:") {
		t.Errorf("set: %v", result)
	}
	if result := h.want(http.StatusOK, http.MethodGet, "/clock", ""); !strings.HasPrefix(result["now"].(string), "2030-01-01T") {
		t.Errorf("clock: %v", result)
	}
	for _, body := range []string{`{}`, ``, `{"advance":"1h","set":"2030-01-01T00:00:00Z"}`, `{"advance":1}`, `{"advanced":"1h"}`, `no`} {
		if result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body); result["error"] == "" {
			t.Errorf("%s: %v", body, result)
		}
	}
}

// TestClockBounds checks that the clock rejects times out of range and then keeps its
// time.
func TestClockBounds(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"2199-12-31T00:00:00Z"}`)
	for _, body := range []string{
		`{"set":"9999-12-31T23:59:59Z"}`, `{"set":"2200-01-01T00:00:00Z"}`, `{"set":"1969-12-31T23:59:59Z"}`, `{"set":"0000-01-01T00:00:00Z"}`,
		`{"advance":"48h"}`, `{"advance":"2562047h47m16.854775807s"}`, `{"advance":"-2562047h47m16s"}`,
	} {
		if result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body); !strings.Contains(result["error"].(string), "1970 to 2199") {
			t.Errorf("%s: %v", body, result)
		}
		if now := h.plane.Clock.Now().UTC().Format(time.DateOnly); now != "2199-12-31" {
			t.Fatalf("%s: the clock shows %s", body, now)
		}
	}
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"set":"1970-01-01T00:00:00Z"}`)
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/clock", `{"advance":"-1h"}`)
	h.want(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	for _, step := range []time.Duration{math.MaxInt64, math.MinInt64} {
		if err := h.plane.Clock.Advance(step); err == nil {
			t.Errorf("%s is accepted", step)
		}
	}
}

func TestFixture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	fixture, err := os.ReadFile("../testdata/fixture.json")
	assert.NilError(t, err)
	text := strings.ReplaceAll(string(fixture), "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10", "7c9e6679-7425-40de-944b-e07fc1f90ae7")
	if result := h.want(http.StatusOK, http.MethodPost, "/fixture", text); len(result["accounts"].([]any)) != 1 {
		t.Errorf("fixture: %v", result)
	}
	if result := h.want(http.StatusOK, http.MethodGet, "/outbox", ""); len(result["items"].([]any)) != 1 {
		t.Errorf("outbox: %v", result)
	}
	if a := h.inProcess.Purchase(workspaceID, "taken.com").Want(http.StatusOK); !strings.Contains(string(a.Raw), "unavailable") {
		t.Errorf("the fixture's registrar has no effect: %s", a)
	}
	if result := h.want(http.StatusUnprocessableEntity, http.MethodPost, "/fixture", `{"accounts":[{}]}`); result["error"] == "" {
		t.Errorf("bad fixture: %v", result)
	}
	dumped := h.raw(http.MethodGet, "/fixture", "").Body.String()
	h.want(http.StatusOK, http.MethodPost, "/reset", "")
	h.want(http.StatusOK, http.MethodPost, "/fixture", dumped)
	if again := h.raw(http.MethodGet, "/fixture", "").Body.String(); again != dumped {
		t.Errorf("second dump:\n%s\nbefore:\n%s", again, dumped)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if result := h.want(http.StatusConflict, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`); !strings.Contains(result["error"].(string), accountID) {
		t.Errorf("%v", result)
	}
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"account_id":"x"}`)
	h.want(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"id":"x"}`)
	for _, body := range []string{``, `{}`} {
		if made := h.want(http.StatusCreated, http.MethodPost, "/accounts", body); made["account_id"] == accountID || made["token"] == "" {
			t.Errorf("%v", made)
		}
	}
	h.want(http.StatusOK, http.MethodPost, "/reset", "")
	made := h.want(http.StatusCreated, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`)
	c := h.network
	if a := c.do(http.MethodGet, "/workspaces", ""); a.status != http.StatusUnauthorized {
		t.Errorf("the old token: %+v", a)
	}
	c.Token = made["token"].(string)
	if a := c.must(http.MethodGet, "/workspaces", ""); !strings.Contains(a.body, made["workspace_id"].(string)) {
		t.Errorf("%+v", a)
	}
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
	if d := result["domains"].([]any)[0].(map[string]any); d["name"] != "a.com" || d["status"] != "active" || d["account_id"] != accountID {
		t.Errorf("%v", result)
	}
	h.want(http.StatusNotFound, http.MethodPost, "/payments/"+accountID, "")
}

func TestListAndUnknownPaths(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	routes := h.want(http.StatusOK, http.MethodGet, "/", "")["routes"].([]any)
	assert.Check(t, len(routes) >= 15, "%d routes", len(routes))
	for _, r := range routes {
		if route := r.(map[string]any); route["method"] == "" || route["path"] == "" || route["about"] == "" {
			t.Errorf("%v", route)
		}
	}
	if result := h.want(http.StatusNotFound, http.MethodGet, "/nowhere", ""); result["error"] == "" {
		t.Errorf("%v", result)
	}
	w := h.raw(http.MethodPut, "/faults", "")
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "DELETE, GET, HEAD, POST" || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("PUT /faults: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestWebPagesAreRejected(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{"/clock", "/reset", "/faults", "/accounts"} {
		if status, result := h.call(http.MethodPost, path, `{}`, "Origin", "https://evil.example"); status != http.StatusForbidden || result["error"] == "" {
			t.Errorf("a request from a page: %d %v", status, result)
		}
	}
	h.want(http.StatusOK, http.MethodGet, "/healthz", "")
}

// TestDNSRebinding checks the Host header of requests. A page whose host name resolves to
// this machine is of the same origin to its browser.
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
