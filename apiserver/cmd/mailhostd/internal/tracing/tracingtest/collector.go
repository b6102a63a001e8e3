// Package tracingtest is an OpenTelemetry collector for tests.
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

// Collector keeps what it is sent.
type Collector struct {
	// URL is what OTEL_EXPORTER_OTLP_ENDPOINT takes.
	URL string

	mu    sync.Mutex
	sent  []*trace.ResourceSpans
	bytes []byte
}

// NewCollector starts a collector.
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
		c.sent = append(c.sent, in.GetResourceSpans()...)
		c.bytes = append(c.bytes, body...)
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Span is one span with its attributes as text.
type Span struct {
	*trace.Span
	Attributes map[string]string
	Resource   map[string]string
}

// Spans returns what has been sent, by its name. Two of one name are an error.
func (c *Collector) Spans(t *testing.T) map[string]Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]Span{}
	for _, resource := range c.sent {
		of := map[string]string{}
		for _, a := range resource.GetResource().GetAttributes() {
			of[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				if _, twice := all[s.GetName()]; twice {
					t.Errorf("there are several spans %q", s.GetName())
				}
				span := Span{Span: s, Attributes: map[string]string{}, Resource: of}
				for _, a := range s.GetAttributes() {
					span.Attributes[a.GetKey()] = a.GetValue().String()
				}
				all[s.GetName()] = span
			}
		}
	}
	return all
}

// Sent returns all that was sent, to look for what must not be in it.
func (c *Collector) Sent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.bytes)
}
