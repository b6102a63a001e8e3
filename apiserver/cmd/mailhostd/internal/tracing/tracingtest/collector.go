// Package tracingtest provides an OpenTelemetry collector for tests.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// Collector stores the requests that it receives.
type Collector struct {
	// URL is the value for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu       sync.Mutex
	received strings.Builder
}

// NewCollector starts a collector that ends with the test.
func NewCollector(t *testing.T) *Collector {
	t.Helper()
	c := new(Collector)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, err := io.Copy(&c.received, r.Body)
		assert.Check(t, err == nil && r.URL.Path == "/v1/traces", "%s %s: %v", r.Method, r.URL, err)
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Has checks whether the spans contain texts, such as names and values of attributes. Protocol buffers
// encode text and ids unchanged.
func (c *Collector) Has(t *testing.T, want bool, texts ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range texts {
		assert.Check(t, strings.Contains(c.received.String(), text) == want, "%q is in the spans: %t, want %t:\n%q", text, !want, want, c.received.String())
	}
}
