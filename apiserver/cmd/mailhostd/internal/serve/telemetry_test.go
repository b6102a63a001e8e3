package serve_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
)

func TestTraces(t *testing.T) {
	t.Parallel()
	collector := tracingtest.NewCollector(t)
	s, owner := mailhostdtest.Start(t, "--otlp-endpoint", collector.URL)
	s.As(t, owner).Do(http.MethodGet, "/mailboxes?search=private", nil).Want(http.StatusOK)
	if code := s.End(t); code != cli.ExitOK { // exports the remaining spans
		t.Errorf("exit code %d", code)
	}
	span, ok := collector.Spans(t)["list-mailboxes"]
	if !ok {
		t.Fatalf("there is no span:\n%s", s.Log)
	}
	if got, want := s.Log.Wait(t, "request")["trace_id"], hex.EncodeToString(span.GetTraceId()); got != want {
		t.Errorf("the log line has trace %v, want %s", got, want)
	}
	for _, secret := range []string{owner.Token, "private"} {
		if strings.Contains(collector.Received(), secret) {
			t.Errorf("%q is in the trace", secret)
		}
	}
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
	s.As(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	s.End(t)
	if span := collector.Spans(t)["list-mailboxes"]; span.Resource["service.name"] != "mail-of-the-team" {
		t.Errorf("resource: %v\n%s", span.Resource, s.Log)
	}
	if strings.Contains(s.Log.String(), "secret") || !strings.Contains(s.Log.String(), "OpenTelemetry: parse headers") {
		t.Errorf("log:\n%s", s.Log)
	}
}
