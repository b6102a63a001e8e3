package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

func newPlane(t *testing.T) (http.Handler, *control.Clock) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clock := new(control.Clock)
	s, err := apiserver.New(apiserver.Options{Store: db, Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return control.NewHandler(s, clock), clock
}

func ask(t *testing.T, h http.Handler, method, path, body string, headers ...string) (status int, answer map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return w.Code, answer
}

func TestClock(t *testing.T) {
	t.Parallel()
	h, clock := newPlane(t)
	if status, _ := ask(t, h, http.MethodPost, "/clock", `{"advance":"72h"}`); status != http.StatusOK {
		t.Errorf("advance: %d", status)
	}
	if ahead := time.Until(clock.Now()); ahead < 71*time.Hour || ahead > 72*time.Hour {
		t.Errorf("the clock is %s ahead", ahead)
	}
	if status, answer := ask(t, h, http.MethodPost, "/clock", `{"set":"2030-01-01T00:00:00Z"}`); status != http.StatusOK || !strings.HasPrefix(answer["now"].(string), "2030-01-01T00:00:") {
		t.Errorf("set: %d %v", status, answer)
	}
	if _, answer := ask(t, h, http.MethodGet, "/clock", ""); !strings.HasPrefix(answer["now"].(string), "2030-01-01T") {
		t.Errorf("clock: %v", answer)
	}
	for _, body := range []string{`{}`, `{"advance":"1h","set":"2030-01-01T00:00:00Z"}`, `{"advance":1}`, `{"advanced":"1h"}`, `no`} {
		if status, answer := ask(t, h, http.MethodPost, "/clock", body); status != http.StatusUnprocessableEntity || answer["error"] == "" {
			t.Errorf("%s: %d %v", body, status, answer)
		}
	}
}

func TestFixture(t *testing.T) {
	t.Parallel()
	h, _ := newPlane(t)
	fixture, err := os.ReadFile("../testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := ask(t, h, http.MethodPost, "/fixture", string(fixture)); status != http.StatusUnprocessableEntity || !strings.HasPrefix(answer["error"].(string), "registrar: ") {
		t.Errorf("with registrar rules: %d %v", status, answer)
	}
	_, accounts, _ := strings.Cut(string(fixture), `"accounts":`)
	if status, answer := ask(t, h, http.MethodPost, "/fixture", `{"registrar":{},"accounts":`+accounts); status != http.StatusOK || len(answer["accounts"].([]any)) != 1 {
		t.Errorf("fixture: %d %v", status, answer)
	}
	if status, answer := ask(t, h, http.MethodGet, "/outbox", ""); status != http.StatusOK || len(answer["items"].([]any)) != 1 {
		t.Errorf("outbox: %d %v", status, answer)
	}
	if status, answer := ask(t, h, http.MethodPost, "/fixture", `{"accounts":[{}]}`); status != http.StatusUnprocessableEntity || answer["error"] == "" {
		t.Errorf("bad fixture: %d %v", status, answer)
	}
}

func TestWebPagesAreKeptOut(t *testing.T) {
	t.Parallel()
	h, _ := newPlane(t)
	if status, _ := ask(t, h, http.MethodPost, "/clock", `{"advance":"1h"}`, "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a page's request: %d", status)
	}
	if status, _ := ask(t, h, http.MethodGet, "/healthz", ""); status != http.StatusOK {
		t.Errorf("healthz: %d", status)
	}
}
