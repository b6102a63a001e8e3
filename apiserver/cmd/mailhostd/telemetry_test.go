package main

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
)

func TestTraces(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	collector := tracingtest.NewCollector(t)
	s := serve(t, database, "--otlp-endpoint", collector.URL)
	s.as(t, owner).Do(http.MethodGet, "/mailboxes?search=private", nil).Want(http.StatusOK)
	if code := s.end(t); code != exitOK { // exports the remaining spans
		t.Errorf("exit code %d", code)
	}
	span, ok := collector.Spans(t)["list-mailboxes"]
	if !ok {
		t.Fatalf("there is no span:\n%s", s.log)
	}
	if got, want := s.log.Wait(t, "request")["trace_id"], hex.EncodeToString(span.GetTraceId()); got != want {
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
	database, owner := initialize(t)
	collector := tracingtest.NewCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization Bearer%secret")
	t.Setenv("OTEL_SERVICE_NAME", "mail-of-the-team")
	s := spawn(t, database)
	s.as(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	s.end(t)
	if span := collector.Spans(t)["list-mailboxes"]; span.Resource["service.name"] != "mail-of-the-team" {
		t.Errorf("resource: %v\n%s", span.Resource, s.log)
	}
	if strings.Contains(s.log.String(), "secret") || !strings.Contains(s.log.String(), "OpenTelemetry: parse headers") {
		t.Errorf("log:\n%s", s.log)
	}

	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	quiet := spawn(t, database)
	quiet.as(t, owner).Do(http.MethodGet, "/workspaces", nil).Want(http.StatusOK)
	quiet.end(t)
	if _, ok := collector.Spans(t)["list-workspaces"]; ok {
		t.Error("OTEL_TRACES_SAMPLER is not honoured")
	}
}

func TestInvalidTracingEndpoint(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	tracing, err := tracingFlags{}.startTracing(t.Context(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317"}, log)
	if tracing != nil || err != nil || !strings.Contains(text.String(), "no traces are sent") || !strings.Contains(text.String(), "OTEL_EXPORTER_OTLP_ENDPOINT: must be") {
		t.Errorf("%v, %v, log:\n%s", tracing, err, &text)
	}
	if code, _, stderr := run(t, "serve", "--otlp-endpoint", "collector:4317"); code != exitUsage || !strings.Contains(stderr, "--otlp-endpoint: must be an http or https URL") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}
