package tracing

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestOpenTelemetrysLogHasNoValues checks that values are removed, because OpenTelemetry
// logs a malformed OTEL_EXPORTER_OTLP_HEADERS with its content.
func TestOpenTelemetrysLogHasNoValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	own := slog.New(messagesOnly{slog.NewTextHandler(&log, nil)})
	own.Error("parse headers", "input", "authorization secret")
	own.With("input", "secret").WithGroup("secret").Error("parse headers")
	assert.Check(t, !strings.Contains(log.String(), "secret") && strings.Count(log.String(), "OpenTelemetry: parse headers") == 2, "log:\n%s", &log)
}

func TestLogHandlerKeepsGroupsAndAttributes(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	slog.New(LogHandler(slog.NewTextHandler(&log, nil))).With("a", 1).WithGroup("g").Info("x", "b", 2)
	assert.Check(t, strings.Contains(log.String(), "a=1 g.b=2"), "log: %s", &log)
}
