package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing"
)

// tracingFlags say where traces go to.
type tracingFlags struct {
	OTLPEndpoint string `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector to send traces to, over OTLP/HTTP. Default: $$OTEL_EXPORTER_OTLP_ENDPOINT, or off."`
	Traceparent  string `name:"traceparent" enum:"continue,link" default:"continue" placeholder:"MODE" help:"What to do with a caller's trace: ${enum}. Link, where strangers are served, begins a trace of its own. Default: ${default}."`
}

func (f tracingFlags) validate() error {
	if f.OTLPEndpoint == "" {
		return nil
	}
	if _, err := tracing.Endpoint(f.OTLPEndpoint, nil); err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	return nil
}

// startTracing returns nil where tracing is off. A variable of OpenTelemetry's is
// set for many programs at once: one that makes no sense keeps none from serving.
func (f tracingFlags) startTracing(ctx context.Context, environ []string, log *slog.Logger) (*tracing.Tracing, error) {
	endpoint, err := tracing.Endpoint(f.OTLPEndpoint, environ)
	if err != nil {
		log.Warn("no traces are sent", "error", err)
		return nil, nil
	}
	if endpoint == "" {
		return nil, nil
	}
	t, err := tracing.Start(ctx, tracing.Options{Endpoint: endpoint, LinkParents: f.Traceparent == "link", Version: programVersion(), Log: log})
	if err == nil {
		log.Info("sending traces", "endpoint", endpoint)
	}
	return t, err
}
