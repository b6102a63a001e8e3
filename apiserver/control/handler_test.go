package control_test

import (
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.wants(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	if ahead := time.Until(h.plane.Clock.Now()); ahead < 71*time.Hour || ahead > 72*time.Hour {
		t.Errorf("the clock is %s ahead", ahead)
	}
	if answer := h.wants(http.StatusOK, http.MethodPost, "/clock", `{"set":"2030-01-01T00:00:00Z"}`); !strings.HasPrefix(answer["now"].(string), "2030-01-01T00:00:") {
		t.Errorf("set: %v", answer)
	}
	if answer := h.wants(http.StatusOK, http.MethodGet, "/clock", ""); !strings.HasPrefix(answer["now"].(string), "2030-01-01T") {
		t.Errorf("clock: %v", answer)
	}
	for _, body := range []string{`{}`, ``, `{"advance":"1h","set":"2030-01-01T00:00:00Z"}`, `{"advance":1}`, `{"advanced":"1h"}`, `no`} {
		if answer := h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body); answer["error"] == "" {
			t.Errorf("%s: %v", body, answer)
		}
	}
}

// The clock shows nothing that it was not set to.
func TestClockBounds(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.wants(http.StatusOK, http.MethodPost, "/clock", `{"set":"2199-12-31T00:00:00Z"}`)
	for _, body := range []string{
		`{"set":"9999-12-31T23:59:59Z"}`, `{"set":"2200-01-01T00:00:00Z"}`, `{"set":"1969-12-31T23:59:59Z"}`, `{"set":"0000-01-01T00:00:00Z"}`,
		`{"advance":"48h"}`, `{"advance":"2562047h47m16.854775807s"}`, `{"advance":"-2562047h47m16s"}`,
	} {
		if answer := h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/clock", body); !strings.Contains(answer["error"].(string), "1970 to 2199") {
			t.Errorf("%s: %v", body, answer)
		}
		if now := h.plane.Clock.Now().UTC().Format(time.DateOnly); now != "2199-12-31" {
			t.Fatalf("%s: it is %s", body, now)
		}
	}
	h.wants(http.StatusOK, http.MethodPost, "/clock", `{"set":"1970-01-01T00:00:00Z"}`)
	h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/clock", `{"advance":"-1h"}`)
	h.wants(http.StatusOK, http.MethodPost, "/clock", `{"advance":"72h"}`)
	const most = time.Duration(math.MaxInt64)
	for _, step := range []time.Duration{most, -most} {
		for range 3 {
			h.plane.Clock.Advance(step)
		}
		if ahead := time.Until(h.plane.Clock.Now()); (ahead > 0) != (step > 0) || ahead.Abs() < 200*365*24*time.Hour {
			t.Errorf("three times %s on it is %s ahead", step, ahead)
		}
	}
}

func TestFixture(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	fixture, err := os.ReadFile("../testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(fixture), accountID, "7c9e6679-7425-40de-944b-e07fc1f90ae7")
	if answer := h.wants(http.StatusOK, http.MethodPost, "/fixture", text); len(answer["accounts"].([]any)) != 1 {
		t.Errorf("fixture: %v", answer)
	}
	if answer := h.wants(http.StatusOK, http.MethodGet, "/outbox", ""); len(answer["items"].([]any)) != 1 {
		t.Errorf("outbox: %v", answer)
	}
	if a := h.inProcess.must(http.MethodPost, "/domains/purchase", `{"domains":["taken.com"],"workspace_id":"`+workspaceID+`","contact_info":`+contact+`}`); !strings.Contains(a.body, "unavailable") {
		t.Errorf("the fixture's registrar does not hold: %s", a.body)
	}
	if answer := h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/fixture", `{"accounts":[{}]}`); answer["error"] == "" {
		t.Errorf("bad fixture: %v", answer)
	}
	dumped := h.raw(http.MethodGet, "/fixture", "").Body.String()
	h.wants(http.StatusOK, http.MethodPost, "/reset", "")
	h.wants(http.StatusOK, http.MethodPost, "/fixture", dumped)
	if again := h.raw(http.MethodGet, "/fixture", "").Body.String(); again != dumped {
		t.Errorf("dumped again:\n%s\nbefore:\n%s", again, dumped)
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	if answer := h.wants(http.StatusConflict, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`); !strings.Contains(answer["error"].(string), accountID) {
		t.Errorf("%v", answer)
	}
	h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"account_id":"x"}`)
	h.wants(http.StatusUnprocessableEntity, http.MethodPost, "/accounts", `{"id":"x"}`)
	for _, body := range []string{``, `{}`} {
		if made := h.wants(http.StatusCreated, http.MethodPost, "/accounts", body); made["account_id"] == accountID || made["token"] == "" {
			t.Errorf("%v", made)
		}
	}
	h.wants(http.StatusOK, http.MethodPost, "/reset", "")
	made := h.wants(http.StatusCreated, http.MethodPost, "/accounts", `{"account_id":"`+accountID+`"}`)
	c := h.network
	if a := c.do(http.MethodGet, "/workspaces", ""); a.status != http.StatusUnauthorized {
		t.Errorf("the old token: %+v", a)
	}
	c.token = made["token"].(string)
	if a := c.must(http.MethodGet, "/workspaces", ""); !strings.Contains(a.body, made["workspace_id"].(string)) {
		t.Errorf("%+v", a)
	}
}

func TestPayments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.wants(http.StatusOK, http.MethodPost, "/fixture", `{"registrar":{"payment_needed":true},"accounts":[]}`)
	var bought struct {
		Batch string `json:"purchase_batch_id"`
	}
	h.network.must(http.MethodPost, "/domains/purchase", `{"domains":["a.com"],"workspace_id":"`+workspaceID+`","contact_info":`+contact+`}`).json(t, &bought)
	answer := h.wants(http.StatusOK, http.MethodPost, "/payments/"+bought.Batch, "")
	if d := answer["domains"].([]any)[0].(map[string]any); d["name"] != "a.com" || d["status"] != "active" || d["account_id"] != accountID {
		t.Errorf("%v", answer)
	}
	h.wants(http.StatusNotFound, http.MethodPost, "/payments/"+accountID, "")
}

func TestListAndUnknownPaths(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	routes := h.wants(http.StatusOK, http.MethodGet, "/", "")["routes"].([]any)
	if len(routes) < 15 {
		t.Errorf("%d routes", len(routes))
	}
	for _, r := range routes {
		if route := r.(map[string]any); route["method"] == "" || route["path"] == "" || route["about"] == "" {
			t.Errorf("%v", route)
		}
	}
	if answer := h.wants(http.StatusNotFound, http.MethodGet, "/nowhere", ""); answer["error"] == "" {
		t.Errorf("%v", answer)
	}
	w := h.raw(http.MethodPut, "/faults", "")
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "DELETE, GET, HEAD, POST" || !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("PUT /faults: %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestWebPagesAreKeptOut(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{"/clock", "/reset", "/faults", "/accounts"} {
		if status, answer := h.ask(http.MethodPost, path, `{}`, "Origin", "https://evil.example"); status != http.StatusForbidden || answer["error"] == "" {
			t.Errorf("a page's request: %d %v", status, answer)
		}
	}
	h.wants(http.StatusOK, http.MethodGet, "/healthz", "")
}
