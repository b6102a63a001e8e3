package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// TestInvalidEndpointInTheEnvironment checks that such a variable, which may be set for all programs of a machine, is only logged.
func TestInvalidEndpointInTheEnvironment(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	tracing, err := tracingFlags{}.startTracing(t.Context(), cli.Program{Environ: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317"}}, log)
	if tracing != nil || err != nil || !strings.Contains(text.String(), "no traces are sent") || !strings.Contains(text.String(), "OTEL_EXPORTER_OTLP_ENDPOINT: must be") {
		t.Errorf("%v, %v, log:\n%s", tracing, err, &text)
	}
}
