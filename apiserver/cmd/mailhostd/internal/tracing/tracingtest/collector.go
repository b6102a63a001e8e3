// Package tracingtest provides an OpenTelemetry collector for tests.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector stores the spans that it receives.
type Collector struct {
	// URL is the value for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu       sync.Mutex
	received []*trace.ResourceSpans
	bytes    []byte
}

// NewCollector starts a collector that ends with the test.
func NewCollector(t *testing.T) *Collector {
	t.Helper()
	c := new(Collector)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in coltrace.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &in)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.received = append(c.received, in.GetResourceSpans()...)
		c.bytes = append(c.bytes, body...)
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Span is a span with its attributes as text.
type Span struct {
	*trace.Span
	Attributes map[string]string
	Resource   map[string]string
}

// Spans returns the spans by name. Two spans with the same name fail the test.
func (c *Collector) Spans(t *testing.T) map[string]Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]Span{}
	for _, resource := range c.received {
		attributes := map[string]string{}
		for _, a := range resource.GetResource().GetAttributes() {
			attributes[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				if _, twice := all[s.GetName()]; twice {
					t.Errorf("there are several spans %q", s.GetName())
				}
				span := Span{Span: s, Attributes: map[string]string{}, Resource: attributes}
				for _, a := range s.GetAttributes() {
					span.Attributes[a.GetKey()] = a.GetValue().String()
				}
				all[s.GetName()] = span
			}
		}
	}
	return all
}

// Received returns all request bodies, to search for secrets.
func (c *Collector) Received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.bytes)
}
