package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// reminder is how often a collector that does not answer is told again.
const reminder = 5 * time.Minute

// exporter logs what its inner one fails at, and not each time. The span
// processor has one export at a time.
type exporter struct {
	sdktrace.SpanExporter
	log   *slog.Logger
	clock func() time.Time
	// lost are the spans that failed since the last success, told when.
	lost int
	told time.Time
}

// ExportSpans implements sdktrace.SpanExporter. It always succeeds: what failed
// is told here.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch now := e.clock(); {
	case err == nil && e.lost > 0:
		e.log.Info("traces reach their collector again", "lost_spans", e.lost)
		e.lost = 0
	case err != nil:
		e.lost += len(spans)
		if e.lost == len(spans) || now.Sub(e.told) >= reminder {
			e.told = now
			e.log.Warn("traces do not reach their collector", "lost_spans", e.lost, "error", excerpt(err))
		}
	}
	return nil
}

// excerpt shortens an error, which can hold a collector's whole answer.
func excerpt(err error) string { return fmt.Sprintf("%.300s", err) }
