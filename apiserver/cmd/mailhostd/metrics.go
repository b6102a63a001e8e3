package main

import (
	"context"
	"net"
)

// metricsFlags say where metrics are.
type metricsFlags struct {
	MetricsListen string `placeholder:"ADDRESS" help:"Address of /metrics, for Prometheus. A port alone is on 127.0.0.1. Default: off."`
}

// listenMetrics returns nil where metrics are off.
func (f metricsFlags) listenMetrics(ctx context.Context) (net.Listener, error) {
	if f.MetricsListen == "" {
		return nil, nil
	}
	return listen(ctx, "--metrics-listen", loopbackByDefault(f.MetricsListen))
}
