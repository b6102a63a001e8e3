package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// collector is an exporter that returns err.
type collector struct{ err error }

func (c *collector) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return c.err }
func (*collector) Shutdown(context.Context) error                               { return nil }

// TestExportErrorsAreLoggedSparsely checks that repeated export errors are logged once per
// interval, with the number of lost spans.
func TestExportErrorsAreLoggedSparsely(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var log bytes.Buffer
	inner := &collector{err: errors.New("connection refused " + strings.Repeat("x", 1000))}
	e := &exporter{SpanExporter: inner, log: slog.New(slog.NewTextHandler(&log, nil)), clock: func() time.Time { return now }}
	export := func() {
		t.Helper()
		if err := e.ExportSpans(t.Context(), make([]sdktrace.ReadOnlySpan, 10)); err != nil {
			t.Errorf("the error also reaches OpenTelemetry's handler: %v", err)
		}
	}
	lines := func(want int, texts ...string) {
		t.Helper()
		if got := strings.Count(log.String(), "\n"); got != want {
			t.Errorf("%d lines, want %d:\n%s", got, want, &log)
		}
		for _, text := range texts {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %q:\n%s", text, &log)
			}
		}
		log.Reset()
	}
	for range 59 {
		export()
		now = now.Add(5 * time.Second)
	}
	lines(1, "lost_spans=10", "connection refused")
	now = now.Add(5 * time.Second)
	export()
	lines(1, "lost_spans=600")
	inner.err = nil
	export()
	export()
	lines(1, "reach their collector again", "lost_spans=600")
	inner.err = errors.New("again")
	export()
	lines(1, "lost_spans=10", "again")
}

// TestOpenTelemetrysLogHasNoValues checks that values are removed, because OpenTelemetry
// logs a malformed OTEL_EXPORTER_OTLP_HEADERS with its content.
func TestOpenTelemetrysLogHasNoValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	own := slog.New(messagesOnly{slog.NewTextHandler(&log, nil)})
	own.Error("parse headers", "input", "authorization secret")
	own.With("input", "secret").WithGroup("secret").Error("parse headers")
	if strings.Contains(log.String(), "secret") || strings.Count(log.String(), "OpenTelemetry: parse headers") != 2 {
		t.Errorf("log:\n%s", &log)
	}
}

func TestLogHandlerKeepsGroupsAndAttributes(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	slog.New(LogHandler(slog.NewTextHandler(&log, nil))).With("a", 1).WithGroup("g").Info("x", "b", 2)
	if !strings.Contains(log.String(), "a=1 g.b=2") {
		t.Errorf("log: %s", &log)
	}
}
