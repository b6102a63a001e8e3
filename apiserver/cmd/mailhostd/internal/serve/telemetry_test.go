package serve_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/tracing/tracingtest"
)

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
