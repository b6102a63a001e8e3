package tracing

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler adds the ids of the trace and the span that a line belongs to.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		line = line.Clone()
		line.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

// messagesOnly drops what stands beside a message: OpenTelemetry's packages log
// the value of a malformed variable, which can be a header with a credential.
type messagesOnly struct{ slog.Handler }

// Handle implements slog.Handler.
func (h messagesOnly) Handle(ctx context.Context, line slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(line.Time, line.Level, "OpenTelemetry: "+line.Message, line.PC))
}

// WithAttrs implements slog.Handler.
func (h messagesOnly) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h messagesOnly) WithGroup(string) slog.Handler { return h }
