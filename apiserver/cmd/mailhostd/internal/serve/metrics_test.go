package serve_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--metrics-listen", "0")
	at, _ := s.Log.Wait(t, "serving metrics")["url"].(string)
	assert.Assert(t, strings.HasPrefix(at, "http://127.0.0.1:") && strings.HasSuffix(at, "/metrics"), "the metrics URL is %q", at)
	c := s.As(t, owner)
	c.Do(http.MethodGet, "/mailboxes?search=private", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	c.Do(http.MethodPost, "/mailboxes", "{}").Want(http.StatusUnprocessableEntity)
	c.Do(http.MethodGet, "/private", nil).Want(http.StatusNotFound)
	c.Do("BREW", "/mailboxes", nil).Want(http.StatusMethodNotAllowed)
	for path, want := range map[string]int{"/healthz/live": 200, "/verify-forwarding/private": 404, "/metrics": 404} {
		status, _ := mailhostdtest.Fetch(t, http.MethodGet, s.URL+path)
		assert.Check(t, status == want, "%s: status %d, want %d", path, status, want)
	}
	status, text := mailhostdtest.Fetch(t, http.MethodGet, at)
	assert.Assert(t, status == http.StatusOK, "status %d", status)
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
		"mailhostd_messages_queued 0",
		"mailhostd_messages_given_up_total 0",
		"mailhostd_database_connections_max 0",
	} {
		assert.Check(t, strings.Contains(text, want+"\n"), "there is no %s in\n%s", want, text)
	}
	for _, gauge := range []string{"mailhostd_database_size_bytes", "mailhostd_http_connections"} {
		assert.Check(t, regexp.MustCompile(gauge+` [1-9]`).MatchString(text), "%s is 0 in\n%s", gauge, text)
	}
	for _, not := range []string{"private", owner.AccountID, owner.Token, "BREW"} {
		assert.Check(t, !strings.Contains(text, not), "a label contains %q from a request", not)
	}
	status, _ = mailhostdtest.Fetch(t, http.MethodGet, strings.TrimSuffix(at, "/metrics")+"/healthz/live")
	assert.Check(t, status == http.StatusNotFound, "the metrics listener serves another path: %d", status)
	assert.Check(t, is.Equal(s.End(t), cli.ExitOK), "exit code")
}

func TestTraces(t *testing.T) {
	t.Parallel()
	collector := tracingtest.NewCollector(t)
	s, owner := mailhostdtest.Start(t, "--otlp-endpoint", collector.URL)
	s.As(t, owner).Get("/mailboxes?search=private").Want(http.StatusOK)
	if code := s.End(t); code != cli.ExitOK { // exports the remaining spans
		t.Errorf("exit code %d", code)
	}
	id, _ := s.Log.Wait(t, "request")["trace_id"].(string)
	raw, err := hex.DecodeString(id)
	assert.Assert(t, err == nil && len(raw) != 0, "the log line has trace %q, %v", id, err)
	collector.Has(t, true, "list-mailboxes", string(raw))
	collector.Has(t, false, owner.Token, "private")
}

// TestTracesFromTheEnvironment does not run in parallel, because environment variables
// are global.
func TestTracesFromTheEnvironment(t *testing.T) {
	database, owner := mailhostdtest.Initialize(t)
	collector := tracingtest.NewCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization Bearer%secret")
	t.Setenv("OTEL_SERVICE_NAME", "mail-of-the-team")
	s := mailhostdtest.Spawn(t, database)
	s.As(t, owner).Get("/mailboxes").Want(http.StatusOK)
	s.End(t)
	collector.Has(t, true, "list-mailboxes", "mail-of-the-team")
	assert.Check(t, !strings.Contains(s.Log.String(), "secret") && strings.Contains(s.Log.String(), "OpenTelemetry: parse headers"), "log:\n%s", s.Log)
}
