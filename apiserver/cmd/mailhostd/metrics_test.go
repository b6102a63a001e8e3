package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func fetch(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := serve(t, database, "--metrics-listen", "0")
	at, _ := s.log.Wait(t, "serving metrics")["url"].(string)
	if !strings.HasPrefix(at, "http://127.0.0.1:") || !strings.HasSuffix(at, "/metrics") {
		t.Fatalf("the metrics URL is %q", at)
	}
	c := s.as(t, owner)
	c.Do(http.MethodGet, "/mailboxes?search=private", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	c.Do(http.MethodPost, "/mailboxes", "{}").Want(http.StatusUnprocessableEntity)
	c.Do(http.MethodGet, "/private", nil).Want(http.StatusNotFound)
	c.Do("BREW", "/mailboxes", nil).Want(http.StatusMethodNotAllowed)
	for path, want := range map[string]int{"/healthz/live": 200, "/verify-forwarding/private": 404, "/metrics": 404} {
		if status, _ := fetch(t, http.MethodGet, s.url+path); status != want {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
	status, text := fetch(t, http.MethodGet, at)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	for _, want := range []string{
		`mailhostd_http_requests_total{code="200",method="get",operation="list-mailboxes"} 2`,
		`mailhostd_http_requests_total{code="422",method="post",operation="create-mailbox"} 1`,
		`mailhostd_http_requests_total{code="404",method="get",operation="other"} 2`,
		`mailhostd_http_requests_total{code="405",method="unknown",operation="other"} 1`,
		`mailhostd_http_requests_total{code="200",method="get",operation="health"} 1`,
		`mailhostd_http_requests_total{code="404",method="get",operation="verification"} 1`,
		`mailhostd_http_request_duration_seconds_count{code="200",method="get",operation="list-mailboxes"} 2`,
		"mailhostd_http_requests_in_flight 0",
		"mailhostd_ready 1",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	for _, not := range []string{"private", owner.AccountID, owner.Token, "BREW"} {
		if strings.Contains(text, not) {
			t.Errorf("a label contains %q from a request", not)
		}
	}
	if status, _ := fetch(t, http.MethodGet, strings.TrimSuffix(at, "/metrics")+"/healthz/live"); status != http.StatusNotFound {
		t.Errorf("the metrics listener serves another path: %d", status)
	}
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
